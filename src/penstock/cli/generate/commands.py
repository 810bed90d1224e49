"""``penstock generate docker|compose|prometheus|grafana|k8s|helm|systemd|all``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import examples, new_app

if TYPE_CHECKING:
    from penstock.cli.generate.plan import Plan

NODES_DEFAULT = 3
NODES_MAX = 64

Nodes = Annotated[int, typer.Option("--nodes", "-n", min=1, max=NODES_MAX, help="How many brokers.")]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="DIR", help="Where the files go, in folders of their own."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there and differ.")]
OUTPUT_DEFAULT = Path("deploy")

generate_app = new_app(
    "Write files to run and watch brokers with elsewhere than in a terminal.",
    "penstock generate compose --nodes 5 -o five",
    "penstock generate k8s --nodes 5",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(generate_app, name="generate")


@generate_app.command(epilog=examples("penstock generate docker --output ."))
def docker(output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write a Dockerfile that builds the image from Penstock's sources."""
    _write("docker", NODES_DEFAULT, output, force)


@generate_app.command(
    epilog=examples("penstock generate compose", "penstock generate compose --nodes 5 -o five")
)
def compose(nodes: Nodes = NODES_DEFAULT, output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write compose files: one broker; and a cluster with gateway, Prometheus and Grafana."""
    _write("compose", nodes, output, force)


@generate_app.command(epilog=examples("penstock generate prometheus --nodes 1"))
def prometheus(nodes: Nodes = NODES_DEFAULT, output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write what Prometheus needs: a scrape configuration, targets, alerts."""
    _write("prometheus", nodes, output, force)


@generate_app.command(epilog=examples("penstock generate grafana --output monitoring"))
def grafana(output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write dashboards for Grafana, and files by which it finds them."""
    _write("grafana", NODES_DEFAULT, output, force)


@generate_app.command(
    epilog=examples("penstock generate k8s --nodes 5", "kubectl apply --kustomize deploy/kubernetes")
)
def k8s(nodes: Nodes = NODES_DEFAULT, output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write manifests for Kubernetes."""
    _write("k8s", nodes, output, force)


@generate_app.command(epilog=examples("penstock generate helm", "helm install penstock deploy/helm/penstock"))
def helm(nodes: Nodes = NODES_DEFAULT, output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write a Helm chart: the same manifests, with values to choose."""
    _write("helm", nodes, output, force)


@generate_app.command(epilog=examples("penstock generate systemd --output ."))
def systemd(output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write units for machines without containers: a broker and a gateway."""
    _write("systemd", NODES_DEFAULT, output, force)


@generate_app.command("all", epilog=examples("penstock generate all --nodes 3 --output deploy"))
def everything(nodes: Nodes = NODES_DEFAULT, output: Output = OUTPUT_DEFAULT, force: Force = False) -> None:
    """Write all of them."""
    from penstock.cli.generate.kinds import all_files

    _write_files(all_files, nodes, output, force)


def _write(kind: str, nodes: int, output: Path, force: bool) -> None:
    from penstock.cli.generate.kinds import KINDS

    _write_files(KINDS[kind], nodes, output, force)


def _write_files(make: "Callable[[Plan], dict[str, str]]", nodes: int, output: Path, force: bool) -> None:
    from penstock.cli.generate.plan import Plan
    from penstock.cli.generate.writing import write_files

    files = make(Plan(nodes=nodes))
    written = write_files(output, files, overwrites=force)
    for path in written:
        print(f"wrote {path}")
    if len(written) < len(files):
        print(f"{len(files) - len(written)} of {len(files)} files were there already, just the same")
