import pytest

from penstock.config.definition import ConfigError
from penstock.config.sources import load_broker_config


@pytest.mark.parametrize("text", ["auto", "off", "127.0.0.1:19092", "0.0.0.0:0", "[::1]:19092", "host:1"])
def test_address_or_word_is_taken(text: str) -> None:
    assert load_broker_config(flags={"metrics.listener": text}).string("metrics.listener") == text


@pytest.mark.parametrize("text", ["", "on", "19092", "127.0.0.1", "127.0.0.1:65536", "http://127.0.0.1:1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"must be auto, off, or an address like 127\.0\.0\.1:19092"):
        load_broker_config(flags={"metrics.listener": text})
