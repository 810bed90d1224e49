"""Compose files: one broker, and a cluster with everything that watches it.

A broker has one listener, so it has one address for everybody: a name that ends in ``.localhost``. On the
machine itself such a name means the machine, in the network it is an alias of the container, and the port is
the same on both sides.
"""

from penstock.cli.generate.filling import filled
from penstock.cli.generate.grafana.files import grafana_files
from penstock.cli.generate.health import BROKER_HEALTH_TEST, GATEWAY_HEALTH_TEST
from penstock.cli.generate.plan import METRICS_PORT, Plan
from penstock.cli.generate.prometheus import prometheus_files, target_lines

SINGLE = "single.yaml"
CLUSTER = "cluster.yaml"


def compose_files(plan: Plan) -> dict[str, str]:
    """Both files, and what the larger one mounts."""
    targets = target_lines(f"broker-{number}:{METRICS_PORT}" for number in plan.numbers)
    return {
        f"compose/{SINGLE}": _single(),
        f"compose/{CLUSTER}": _cluster(plan),
        "compose/targets.yml": filled("compose/targets.yml", {"targets": targets}),
        **prometheus_files(plan),
        **grafana_files(plan),
    }


def _single() -> str:
    plan = Plan(nodes=1)
    return filled(f"compose/{SINGLE}", _shared_words(plan, SINGLE))


def _cluster(plan: Plan) -> str:
    words = {
        "nodes": "one broker" if plan.nodes == 1 else f"{plan.nodes} brokers",
        "bootstrap": ", ".join(_addresses(plan)),
        "replication_factor": str(plan.replication_factor),
        "min_insync_replicas": str(plan.min_insync_replicas),
        "brokers": "\n".join(_broker(plan, number) for number in plan.numbers),
        "volumes": "\n".join(f"  broker-{number}:" for number in plan.numbers),
    }
    return filled(f"compose/{CLUSTER}", {**_shared_words(plan, CLUSTER), **words})


def _shared_words(plan: Plan, file: str) -> dict[str, str]:
    host_names = " ".join(f"broker-{number}.localhost" for number in plan.numbers)
    gateway = {
        "file": file,
        "bootstrap": ",".join(_addresses(plan)),
        "gateway_health_test": GATEWAY_HEALTH_TEST,
    }
    return {
        "broker_health_test": BROKER_HEALTH_TEST,
        "gateway": filled("compose/gateway_service.yaml", gateway),
        "names_note": filled("compose/names_note.txt", {"host_names": host_names}),
    }


def _broker(plan: Plan, number: int) -> str:
    words = {"number": str(number), "port": str(plan.port(number)), "join": _join(plan, number)}
    return filled("compose/broker_service.yaml", words)


def _join(plan: Plan, number: int) -> str:
    """The first one founds the cluster; when it has lost its volume it must not do so a second time."""
    others = ",".join(f"broker-{each}:{plan.port(each)}" for each in plan.numbers if each != number)
    setting = f"PENSTOCK_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: {others}"
    if number > 1:
        return f"      {setting}"
    if not others:
        return ""
    return (
        "      # It founds the cluster. Once that has come up take the # away, so that this broker, should\n"
        "      # it ever lose its volume, joins the others instead of founding a second cluster.\n"
        f"      # {setting}"
    )


def _addresses(plan: Plan) -> list[str]:
    return [f"broker-{number}.localhost:{plan.port(number)}" for number in plan.numbers]
