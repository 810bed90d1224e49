"""What can be generated: a word for each kind, and who makes its files."""

from collections.abc import Callable, Mapping

from penstock.cli.generate.compose import compose_files
from penstock.cli.generate.docker import docker_files
from penstock.cli.generate.grafana.files import grafana_files
from penstock.cli.generate.kubernetes.chart import helm_files
from penstock.cli.generate.kubernetes.manifests import kubernetes_files
from penstock.cli.generate.plan import Plan
from penstock.cli.generate.prometheus import prometheus_files
from penstock.cli.generate.systemd import systemd_files

KINDS: Mapping[str, Callable[[Plan], dict[str, str]]] = {
    "docker": docker_files,
    "compose": compose_files,
    "prometheus": prometheus_files,
    "grafana": grafana_files,
    "k8s": kubernetes_files,
    "helm": helm_files,
    "systemd": systemd_files,
}
"""Who makes the files of a kind: texts by their paths, which have slashes."""


def all_files(plan: Plan) -> dict[str, str]:
    """Of all kinds; where two write the same file they write it alike."""
    return {path: text for make in KINDS.values() for path, text in make(plan).items()}
