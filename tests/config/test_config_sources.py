import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.config.broker_config import build_broker_config
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigError, ConfigKey, ConfigType, Scope
from penstock.config.settings import ConfigSource
from penstock.config.sources import environment_settings, load_broker_config
from penstock.config.topic_config import topic_config
from penstock.model.errors import InvariantError

SECRET = ConfigKey(name="some.password", type=ConfigType.PASSWORD, default=None, doc="", scope=Scope.BROKER)


def test_nothing_given_means_all_defaults() -> None:
    config = load_broker_config()
    assert {name: config.value(name) for name in config} == {
        name: key.default for name, key in BROKER_KEYS.items()
    }
    assert config.data_directory == "./penstock-data"
    assert str(config.listeners[0]) == "PLAINTEXT://127.0.0.1:9092"
    assert config.advertised_listeners == ()


def test_flags_beat_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "broker.yaml"
    file.write_text("num.partitions: 2\nlog_retention_bytes: 3\nmax: {connections: 4}\n")
    config = load_broker_config(
        file=file,
        environment={"PENSTOCK_NUM_PARTITIONS": "5", "PENSTOCK_LOG_RETENTION_BYTES": "6", "OTHER": "x"},
        flags={"num.partitions": "7"},
    )
    assert config.integer("num.partitions") == 7
    assert config.integer("log.retention.bytes") == 6
    assert config.integer("max.connections") == 4
    assert config.integer("queued.max.requests") == 500
    assert config.stack("num.partitions")[0].origin == "on the command line"
    assert config.stack("log.retention.bytes")[0].origin == "in the environment"
    assert config.stack("max.connections")[0].origin == f"in {file}"


def test_unknown_key_names_place_and_nearest(tmp_path: Path) -> None:
    file = tmp_path / "broker.properties"
    file.write_text("num.partition=2\n")
    with pytest.raises(ConfigError) as caught:
        load_broker_config(file=file)
    assert str(caught.value) == f"Unknown configuration num.partition in {file}. Did you mean num.partitions?"


def test_bad_value_names_place() -> None:
    with pytest.raises(ConfigError) as caught:
        load_broker_config(environment={"PENSTOCK_NODE_ID": "-4"})
    assert str(caught.value) == (
        "Invalid value -4 for configuration node.id: must be a whole number, at least 0. "
        "It was given in the environment."
    )


def test_environment_of_others_is_left_alone() -> None:
    environment = {
        "PENSTOCK_FAILPOINTS": "flush",
        "PENSTOCK_CACHE_DIR": "caches",
        "PENSTOCK_SPARK_ARCHIVE": "off",
        "PENSTOCK_SERVICE_HOST": "10.0.0.1",
        "PENSTOCK_SERVICE_PORT": "9092",
        "PENSTOCK_PORT": "tcp://10.0.0.1:9092",
        "PENSTOCK_PORT_9092_TCP_ADDR": "10.0.0.1",
        "PENSTOCK_LISTENERS": "h:1",
    }
    assert environment_settings(environment) == {"listeners": "h:1"}


def test_flag_given_in_two_spellings_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"node\.id is given twice"):
        load_broker_config(flags={"node.id": "1", "node_id": "2"})


def test_secret_in_a_file_everybody_reads_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "broker.json"
    file.write_text('{"some.password": "hunter2"}')
    keys = {SECRET.name: SECRET}
    file.chmod(0o644)
    with pytest.raises(ConfigError, match=r"holds some\.password.*chmod 600") as caught:
        load_broker_config(file=file, keys=keys)
    assert "hunter2" not in str(caught.value)
    file.chmod(0o640)
    config = load_broker_config(file=file, keys=keys)
    assert config.string("some.password") == "hunter2"
    assert "hunter2" not in repr(config.stack("some.password"))


def test_plain_settings_may_lie_in_a_file_everybody_reads(tmp_path: Path) -> None:
    file = tmp_path / "broker.json"
    file.write_text('{"node.id": 3}')
    file.chmod(0o644)
    assert load_broker_config(file=file).integer("node.id") == 3


def test_request_limit_below_message_limit_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"must be at least message\.max\.bytes, which is 20000000"):
        load_broker_config(flags={"message.max.bytes": "20000000"})


@pytest.mark.parametrize("address", ["PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://:9092", "h:0"])
def test_advertised_wildcard_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match=r"not a wildcard"):
        load_broker_config(flags={"advertised.listeners": address})


def test_typed_access_of_the_wrong_type_is_a_bug() -> None:
    config = build_broker_config()
    topic = topic_config({}, config)
    mistakes: list[Callable[[], object]] = [
        lambda: config.integer("delete.topic.enable"),
        lambda: config.integer("log.retention.ms"),
        lambda: config.number("num.partitions"),
        lambda: config.boolean("num.partitions"),
        lambda: config.string("num.partitions"),
        lambda: config.strings("broker.rack"),
        lambda: config.value("nonsense"),
    ]
    for wrong in mistakes:
        with pytest.raises(InvariantError):
            wrong()
    assert topic.number("min.cleanable.dirty.ratio") == 0.5
    assert config.string("broker.rack") == ""
    assert config.boolean("delete.topic.enable") is True


def test_dynamic_settings_cover_static_ones_and_can_be_taken_away() -> None:
    static = load_broker_config(flags={"message.max.bytes": "5000"})
    dynamic = static.with_dynamic(
        cluster={"message.max.bytes": "6000", "log.retention.ms": "1", "from.the.future": "x"},
        broker={"message.max.bytes": "7000"},
    )
    assert dynamic.integer("message.max.bytes") == 7000
    assert [setting.source for setting in dynamic.stack("message.max.bytes")] == [
        ConfigSource.DYNAMIC_BROKER,
        ConfigSource.DYNAMIC_DEFAULT_BROKER,
        ConfigSource.STATIC_BROKER,
        ConfigSource.DEFAULT,
    ]
    assert dynamic.integer("log.retention.ms") == 1
    assert dynamic.with_dynamic().integer("message.max.bytes") == 5000


def test_importing_settings_does_not_import_yaml() -> None:
    code = "import sys, penstock.config.sources as s; s.load_broker_config(); print('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
