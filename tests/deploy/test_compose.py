"""Compose files hang together: every name leads somewhere, nothing is open to others, all are watched."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.deploy_folder import DEPLOY

from penstock.cli.generate.compose import compose_files
from penstock.cli.generate.plan import Plan
from penstock.config.sources import load_broker_config

COMPOSE = DEPLOY / "compose"
FILES = ("single.yaml", "cluster.yaml")
SERVICE_KEYS = {
    *("image", "command", "environment", "depends_on", "ports", "volumes", "networks", "healthcheck"),
    *("read_only", "tmpfs", "cap_drop", "security_opt", "ulimits", "stop_grace_period", "restart"),
}
"""Those of the Compose specification that we use."""


def loaded(text: str) -> dict[str, Any]:
    """As compose has it when no variable is set."""
    file = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
    assert isinstance(file, dict)
    return file


def compose(name: str) -> dict[str, Any]:
    return loaded((COMPOSE / name).read_text())


def brokers(file: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: service for name, service in file["services"].items() if name.startswith("broker-")}


@pytest.mark.parametrize("name", FILES)
def test_services_have_only_what_compose_knows(name: str) -> None:
    file = compose(name)
    assert set(file) - {key for key in file if key.startswith("x-")} <= {
        *("name", "services", "networks", "volumes"),
    }
    for service in file["services"].values():
        assert set(service) <= SERVICE_KEYS


@pytest.mark.parametrize("name", FILES)
def test_every_volume_and_dependency_exists(name: str) -> None:
    file = compose(name)
    used = set()
    for service in file["services"].values():
        assert set(service.get("depends_on", ())) <= set(file["services"])
        for volume in service["volumes"]:
            source, target, *mode = volume.split(":")
            assert target.startswith("/")
            if source.startswith("."):
                assert (COMPOSE / source).exists()
                assert mode == ["ro"]
            else:
                used.add(source)
    assert used == set(file["volumes"])


@pytest.mark.parametrize("name", FILES)
def test_every_service_is_watched_and_can_do_little(name: str) -> None:
    for service in compose(name)["services"].values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["restart"] == "unless-stopped"
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), "pinned to a version"


@pytest.mark.parametrize("name", FILES)
def test_ports_are_open_on_this_machine_only(name: str) -> None:
    ports = [port for service in compose(name)["services"].values() for port in service["ports"]]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


def test_ports_of_the_cluster_are_the_ones_people_expect() -> None:
    services = compose("cluster.yaml")["services"]
    opened = {name: int(service["ports"][0].split(":")[1]) for name, service in services.items()}
    assert opened == {
        **{"broker-1": 9092, "broker-2": 9093, "broker-3": 9094},
        **{"gateway": 8080, "prometheus": 9090, "grafana": 3000},
    }


@pytest.mark.parametrize("name", FILES)
def test_brokers_have_one_address_for_this_machine_and_for_the_network(name: str) -> None:
    for broker, service in brokers(compose(name)).items():
        config = load_broker_config(environment=service["environment"])
        (advertised,) = config.advertised_listeners
        inside, outside = (int(part) for part in reversed(service["ports"][0].split(":")[1:]))
        assert advertised.host == f"{broker}.localhost"
        assert service["networks"] == {"default": {"aliases": [advertised.host]}}
        assert advertised.port == inside == outside == config.listeners[0].port


@pytest.mark.parametrize("nodes", [1, 3, 5])
def test_first_broker_founds_and_others_join_all_but_themselves(nodes: int) -> None:
    text = compose_files(Plan(nodes=nodes))["compose/cluster.yaml"]
    found = brokers(loaded(text))
    addresses = {name: f"{name}:{service['ports'][0].split(':')[1]}" for name, service in found.items()}
    for name, service in found.items():
        config = load_broker_config(environment=service["environment"])
        joined = {f"{each.host}:{each.port}" for each in config.bootstrap_servers}
        assert joined == (set() if name == "broker-1" else set(addresses.values()) - {addresses[name]})
        assert config.node_id is None, "one that has lost its disk must get another number"
        assert config.integer("default.replication.factor") == min(nodes, 3)


def test_prometheus_of_the_cluster_scrapes_every_broker() -> None:
    (entry,) = yaml.safe_load((COMPOSE / "targets.yml").read_text())
    assert entry["targets"] == [f"{name}:19092" for name in brokers(compose("cluster.yaml"))]


def test_grafana_finds_its_data_source_and_dashboards() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"]
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "penstock.yaml").read_text())["providers"]
    grafana = compose("cluster.yaml")["services"]["grafana"]
    mounts = {target: source for source, target, _ in (each.split(":") for each in grafana["volumes"][:2])}

    assert source["url"].removeprefix("$") in grafana["environment"]
    assert mounts["/etc/grafana/provisioning"] == "../grafana/provisioning"
    folder = COMPOSE / mounts[provider["options"]["path"]]
    home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert (folder / home.name).exists()
