"""Manifests hang together, ask for no rights, and hold settings that brokers understand."""

from pathlib import Path
from typing import Any

import pytest
from tests.deploy.deploy_folder import DEPLOY, documents

from penstock.cli.generate.plan import BROKER_PORT, METRICS_PORT, USER_ID
from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config

FOLDER = DEPLOY / "kubernetes"
VERSIONS = ("1.27", "1.32")
"""Of Kubernetes: the oldest that the chart allows, and a newer one."""


def manifests() -> dict[tuple[str, str], dict[str, Any]]:
    """All objects by kind and name."""
    files = [path for path in sorted(FOLDER.glob("*.yaml")) if path.name != "kustomization.yaml"]
    return {(each["kind"], each["metadata"]["name"]): each for each in documents(*files)}


STATEFUL_SET = manifests()["StatefulSet", "penstock"]
POD = STATEFUL_SET["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def pod_config(ordinal: int, tmp_path: Path) -> BrokerConfig:
    """What the broker in a pod is told."""
    text = manifests()["ConfigMap", "penstock"]["data"][f"penstock-{ordinal}.properties"]
    file = tmp_path / f"penstock-{ordinal}.properties"
    file.write_text(text)
    return load_broker_config(file=file)


def test_all_that_belongs_to_it_is_there() -> None:
    assert set(manifests()) == {
        ("ConfigMap", "penstock"),
        ("PodDisruptionBudget", "penstock"),
        ("ServiceMonitor", "penstock"),
        ("StatefulSet", "penstock"),
        *(("Service", f"penstock{suffix}") for suffix in ("", "-headless", "-0", "-1", "-2")),
        *((kind, "penstock-gateway") for kind in ("Deployment", "Service")),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_are_of_the_schemas_of_kubernetes(version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="needs the package kubernetes-validate")
    for (kind, _), each in manifests().items():
        if kind != "ServiceMonitor":
            validator.validate(each, version, strict=True)


def test_kustomization_names_all_but_what_needs_an_operator_or_a_secret() -> None:
    (file,) = documents(FOLDER / "kustomization.yaml")
    present = {path.name for path in FOLDER.glob("*.yaml")}
    assert set(file["resources"]) == present - {"kustomization.yaml", "servicemonitor.yaml", "gateway.yaml"}


def test_selectors_find_the_pods() -> None:
    labels = STATEFUL_SET["spec"]["template"]["metadata"]["labels"]
    found = manifests()
    for kind, name in (("Service", "penstock"), ("Service", "penstock-headless")):
        assert found[kind, name]["spec"]["selector"].items() <= labels.items()
    assert STATEFUL_SET["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert (
        found["PodDisruptionBudget", "penstock"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    )
    spread = POD["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
    assert spread.items() <= labels.items()
    for ordinal in range(3):
        selector = found["Service", f"penstock-{ordinal}"]["spec"]["selector"]
        assert selector == {"statefulset.kubernetes.io/pod-name": f"penstock-{ordinal}"}


def test_brokers_find_each_other_before_they_are_ready() -> None:
    assert STATEFUL_SET["spec"]["podManagementPolicy"] == "Parallel"
    assert STATEFUL_SET["spec"]["serviceName"] == "penstock-headless"
    for name in ("penstock-headless", "penstock-0", "penstock-1", "penstock-2"):
        assert manifests()["Service", name]["spec"]["publishNotReadyAddresses"] is True


def test_ports_and_probes_are_those_of_the_settings(tmp_path: Path) -> None:
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    config = pod_config(0, tmp_path)

    assert ports == {"kafka": BROKER_PORT, "metrics": METRICS_PORT}
    assert config.listeners[0].port == ports["kafka"]
    assert config.string("metrics.listener") == f"0.0.0.0:{ports['metrics']}"
    probes = {name: CONTAINER[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")}
    assert probes == {
        "livenessProbe": {"path": "/health/live", "port": "metrics"},
        "readinessProbe": {"path": "/health/ready", "port": "metrics"},
    }
    for kind, service in manifests().items():
        if kind[0] == "Service" and kind[1] != "penstock-gateway":
            assert {port["targetPort"] for port in service["spec"]["ports"]} <= set(ports)


def test_monitor_finds_the_port_of_metrics() -> None:
    monitor = manifests()["ServiceMonitor", "penstock"]["spec"]
    service = manifests()["Service", "penstock-headless"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["endpoints"][0]["port"] in {port["name"] for port in service["spec"]["ports"]}
    assert service["metadata"]["labels"][monitor["jobLabel"]] == "penstock"


def test_first_pod_founds_and_others_join(tmp_path: Path) -> None:
    configs = [pod_config(ordinal, tmp_path) for ordinal in range(3)]
    assert [config.node_id for config in configs] == [None] * 3, "one without its disk needs another number"
    joined = [[f"{each.host}:{each.port}" for each in config.bootstrap_servers] for config in configs]
    assert joined == [[], ["penstock-headless:9092"], ["penstock-headless:9092"]]
    assert all(config.data_directory == "/var/lib/penstock/data" for config in configs)
    assert all(config.integer("min.insync.replicas") == 2 for config in configs)


def test_arguments_name_the_pods_own_settings_and_its_own_service() -> None:
    serve, no_gateway, config, address = CONTAINER["args"]
    names = {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in CONTAINER["env"]}

    assert (serve, no_gateway) == ("serve", "--no-gateway")
    assert names == {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
    assert config == "--config=/etc/penstock/$(POD_NAME).properties"
    told = address.replace("$(POD_NAME)", "penstock-1").replace("$(POD_NAMESPACE)", "queues")
    key, _, value = told.removeprefix("--set=").partition("=")
    (advertised,) = load_broker_config(flags={key: value}).advertised_listeners
    assert (advertised.host, advertised.port) == ("penstock-1.queues.svc", BROKER_PORT)


def test_pods_have_no_rights_that_they_do_not_need() -> None:
    assert POD["automountServiceAccountToken"] is False
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert {POD["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")} == {USER_ID}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert CONTAINER["resources"]["requests"]
    assert CONTAINER["resources"]["limits"]["memory"]


def test_data_is_on_a_volume_that_outlives_the_pod() -> None:
    (claim,) = STATEFUL_SET["spec"]["volumeClaimTemplates"]
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert mounts[claim["metadata"]["name"]] == "/var/lib/penstock"
    assert set(mounts) == {"data", *(volume["name"] for volume in POD["volumes"])}
    kept = STATEFUL_SET["spec"]["persistentVolumeClaimRetentionPolicy"]
    assert set(kept.values()) == {"Retain"}
