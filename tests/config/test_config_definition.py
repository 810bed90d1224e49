from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.client_metrics_keys import CLIENT_METRICS_KEYS
from penstock.config.definition import (
    INT_MAX,
    LONG_MAX,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConfigValue,
    Scope,
    unknown_key,
)
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.config.validators import at_least, between, list_of, one_of, some_of, throttled_replicas

ALL_KEYS = [*BROKER_KEYS.values(), *TOPIC_KEYS.values(), *CLIENT_METRICS_KEYS.values()]


def make_key(type: ConfigType, **rest: object) -> ConfigKey:
    return ConfigKey(name="some.key", type=type, default=None, doc="", scope=Scope.BROKER, **rest)  # type: ignore[arg-type]  # keyword mix for brevity


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (ConfigType.BOOLEAN, "true", True),
        (ConfigType.BOOLEAN, " FALSE ", False),
        (ConfigType.STRING, " a b ", "a b"),
        (ConfigType.INT, str(INT_MAX), INT_MAX),
        (ConfigType.INT, "-2147483648", -INT_MAX - 1),
        (ConfigType.SHORT, "32767", 32767),
        (ConfigType.LONG, str(LONG_MAX), LONG_MAX),
        (ConfigType.DOUBLE, "0.5", 0.5),
        (ConfigType.LIST, "", ()),
        (ConfigType.LIST, "a, b", ("a", "b")),
        (ConfigType.PASSWORD, "hunter2", "hunter2"),
    ],
)
def test_parse_valid_text_gives_typed_value(type: ConfigType, text: str, value: ConfigValue) -> None:
    assert make_key(type).parse(text) == value


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (ConfigType.BOOLEAN, "yes"),
        (ConfigType.INT, str(INT_MAX + 1)),
        (ConfigType.INT, "1_000"),
        (ConfigType.INT, "١"),
        (ConfigType.INT, ""),
        (ConfigType.INT, "-"),
        (ConfigType.SHORT, "32768"),
        (ConfigType.LONG, str(LONG_MAX + 1)),
        (ConfigType.LONG, "9" * 5000),
        (ConfigType.DOUBLE, "nan"),
        (ConfigType.DOUBLE, "inf"),
        (ConfigType.DOUBLE, "half"),
    ],
)
def test_parse_text_of_another_type_is_refused(type: ConfigType, text: str) -> None:
    with pytest.raises(ConfigError):
        make_key(type).parse(text)


def test_parse_bad_value_names_key_value_and_what_is_valid() -> None:
    with pytest.raises(ConfigError) as caught:
        make_key(ConfigType.INT, validator=at_least(3)).parse("2")
    assert (
        str(caught.value) == "Invalid value 2 for configuration some.key: must be a whole number, at least 3."
    )


def test_parse_bad_password_is_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"\[hidden\]") as caught:
        make_key(ConfigType.PASSWORD, validator=one_of("a")).parse("hunter2")
    assert "hunter2" not in str(caught.value)


def test_unknown_key_suggests_the_nearest() -> None:
    error = unknown_key("log.retention.m", BROKER_KEYS, place=" in x.yaml")
    assert str(error) == "Unknown configuration log.retention.m in x.yaml. Did you mean log.retention.ms?"


def test_unknown_key_with_nothing_near_suggests_nothing() -> None:
    assert str(unknown_key("zzzzzzzzzz", BROKER_KEYS)) == "Unknown configuration zzzzzzzzzz."


@pytest.mark.parametrize("key", ALL_KEYS, ids=lambda key: f"{key.scope}:{key.name}")
def test_every_default_obeys_its_own_rule(key: ConfigKey) -> None:
    text = key.format(key.default)
    assert text is None or key.parse(text) == key.default


@pytest.mark.parametrize("key", ALL_KEYS, ids=lambda key: f"{key.scope}:{key.name}")
def test_every_key_explains_itself(key: ConfigKey) -> None:
    assert key.doc.endswith(".")
    assert key.read_by or "does not act on it yet" in key.doc


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, id=f"{key.scope}:{key.name}")
        for key in ALL_KEYS
        if key.read_by or key.scope is Scope.BROKER
    ],
)
def test_every_key_is_read_by_the_module_it_names(key: ConfigKey) -> None:
    package = Path(penstock.__file__).parent
    module = package.joinpath(*key.read_by.split(".")[1:]).with_suffix(".py")
    assert f'"{key.name}"' in module.read_text()


def test_topic_table_holds_all_of_kafka_four() -> None:
    assert len(TOPIC_KEYS) == 33


@pytest.mark.parametrize(
    ("validator", "good", "bad"),
    [
        (between(0, 1), 0.5, 1.5),
        (list_of("compact", "delete"), ("delete", "compact"), ("delete", "x")),
        (some_of("uniform", "range"), ("range",), ("range", "x")),
        (some_of("uniform", "range"), ("range", "uniform"), ()),
        (throttled_replicas(), ("0:1", "1:2"), ("0:1", "*")),
        (throttled_replicas(), ("*",), ("a",)),
    ],
)
def test_validators_tell_good_from_bad(validator: object, good: ConfigValue, bad: ConfigValue) -> None:
    accepts = validator.accepts  # type: ignore[attr-defined]  # parametrized
    assert accepts(good)
    assert not accepts(bad)


@given(st.sampled_from(ALL_KEYS), st.text())
def test_parse_any_text_gives_value_or_config_error(key: ConfigKey, text: str) -> None:
    try:
        value = key.parse(text)
    except ConfigError:
        return
    formatted = key.format(value)
    assert formatted is not None
    assert key.parse(formatted) == value


@given(st.integers(min_value=-LONG_MAX - 1, max_value=LONG_MAX))
def test_long_survives_formatting(number: int) -> None:
    key = make_key(ConfigType.LONG)
    assert key.parse(key.format(number) or "") == number
