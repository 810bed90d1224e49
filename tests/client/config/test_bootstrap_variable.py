import pytest

from penstock.client.config.admin_config import AdminConfig
from penstock.client.config.consumer_config import ConsumerConfig
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.errors import ConfigurationError

VARIABLE = "PENSTOCK_BOOTSTRAP_SERVER"


@pytest.mark.parametrize("kind", [ProducerConfig, ConsumerConfig, AdminConfig])
def test_bootstrap_servers_unsaid_are_those_of_the_environment(
    kind: type[ProducerConfig | ConsumerConfig | AdminConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "db1:9092,db2:9092")
    assert kind().librdkafka()["bootstrap.servers"] == "db1:9092,db2:9092"
    assert kind(bootstrap_servers="db3:9092").bootstrap_servers == "db3:9092"


@pytest.mark.parametrize("value", [None, ""])
def test_bootstrap_servers_nobody_names_are_on_this_machine(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    assert ProducerConfig().bootstrap_servers == "127.0.0.1:9092"


def test_bootstrap_variable_that_is_no_address_is_refused_with_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    with pytest.raises(ConfigurationError, match=r"bootstrap_servers='nowhere'.*host:port"):
        ConsumerConfig()
