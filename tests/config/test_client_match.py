"""Which clients a subscription of metrics is for."""

import pytest

from penstock.config.client_match import MATCH_PARAMETERS, is_match, parse_match
from penstock.config.client_metrics_keys import CLIENT_METRICS_KEYS
from penstock.config.definition import ConfigError

FACTS = dict.fromkeys(MATCH_PARAMETERS, "") | {"client_id": "orders-1", "client_source_address": "10.0.0.7"}


@pytest.mark.parametrize(
    ("items", "is_meant"),
    [
        ((), True),
        (("client_id=orders-.*",), True),
        (("client_id = orders-1 ",), True),
        (("client_id=orders",), False),
        (("client_id=orders-.*", r"client_source_address=10\..*"), True),
        (("client_id=orders-.*", r"client_source_address=11\..*"), False),
    ],
)
def test_client_is_meant_if_all_patterns_match_as_a_whole(items: tuple[str, ...], is_meant: bool) -> None:
    assert is_match(parse_match(items), FACTS) is is_meant


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("orders", "PARAMETER=REGULAR_EXPRESSION"),
        ("color=red", "client_software_name"),
        ("client_id=(", "not valid"),
        ("client_id=a,client_id=b", "given twice"),
        ("client_id=" + "a" * 2_000, "1024 are allowed"),
    ],
)
def test_pattern_that_is_none_is_refused_with_what_would_be_one(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        CLIENT_METRICS_KEYS["match"].parse(text)


@pytest.mark.parametrize("name", ["interval.ms", "metrics"])
def test_settings_have_bounds(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        CLIENT_METRICS_KEYS[name].parse({"interval.ms": "99", "metrics": "a,,b"}[name])
