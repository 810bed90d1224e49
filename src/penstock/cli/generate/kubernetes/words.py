"""Words that mean the same in manifests and chart, and the resources that both ask for."""

STORAGE_SIZE = "20Gi"
SCRAPE_INTERVAL = "15s"

RESOURCES = """\
requests:
  cpu: 500m
  memory: 512Mi
# No limit of processor time: a broker that is stopped in the middle of a second is late for everybody.
limits:
  memory: 2Gi
"""

GATEWAY_RESOURCES = """\
requests:
  cpu: 100m
  memory: 128Mi
limits:
  memory: 1Gi
"""
"""It takes 65 MB when it is up; requests, each of which is bounded, may take more together."""


def indented(text: str, spaces: int) -> str:
    """Every line further to the right."""
    return "".join(f"{' ' * spaces}{line}\n" for line in text.splitlines())


def join_setting(name: str, port: str) -> str:
    """Whom a broker with an empty disk asks: any other one."""
    return f"controller.quorum.bootstrap.servers={name}-headless:{port}"
