"""How a container is asked whether it is well: by Python, since the image has no other client."""

import json

from penstock.cli.generate.plan import GATEWAY_PORT, METRICS_PORT

_SECONDS_MAX = 2


def health_command(port: int, path: str) -> list[str]:
    """Ends with 0 if the answer is good, and with 1 and a traceback if it is not or does not come."""
    url = f"http://127.0.0.1:{port}{path}"
    return ["python", "-c", f"import urllib.request as r; r.urlopen('{url}', timeout={_SECONDS_MAX}).close()"]


BROKER_HEALTH = json.dumps(health_command(METRICS_PORT, "/health/ready"))
BROKER_HEALTH_TEST = json.dumps(["CMD", *health_command(METRICS_PORT, "/health/ready")])
GATEWAY_HEALTH_TEST = json.dumps(["CMD", *health_command(GATEWAY_PORT, "/health")])
