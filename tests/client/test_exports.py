"""``import penstock`` is light, and has every client by name."""

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

import penstock
from penstock import client
from penstock.client.config.admin_config import AdminConfig, AdminSettings
from penstock.client.config.consumer_config import ConsumerConfig, ConsumerSettings
from penstock.client.config.producer_config import ProducerConfig, ProducerSettings

LOADED = "import sys, penstock{more}; print([name for name in {names} if name in sys.modules])"


def loaded_after_import(more: str = "") -> str:
    names = ["confluent_kafka", "rich", "penstock.client"]
    command = [sys.executable, "-c", LOADED.format(more=more, names=names)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_import_of_the_package_loads_no_client() -> None:
    assert loaded_after_import() == "[]"
    assert loaded_after_import(", penstock.broker.main") == "[]"


def test_use_of_a_client_loads_it() -> None:
    assert "confluent_kafka" in loaded_after_import("; penstock.Producer")


def test_package_exports_what_the_clients_do() -> None:
    assert penstock.__all__ == client.__all__
    assert all(getattr(penstock, name) is getattr(client, name) for name in client.__all__)


def test_package_has_nothing_else_by_chance() -> None:
    with pytest.raises(AttributeError, match="Prodcer"):
        _ = penstock.Prodcer


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        (ProducerConfig, ProducerSettings),
        (ConsumerConfig, ConsumerSettings),
        (AdminConfig, AdminSettings),
    ],
)
def test_keyword_arguments_are_those_of_the_config(config: Any, settings: Any) -> None:
    assert {field.name for field in dataclasses.fields(config)} == set(settings.__annotations__)
