import pytest

from penstock.config.definition import ConfigError
from penstock.config.listeners import Listener, parse_listener


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("PLAINTEXT://127.0.0.1:9092", "127.0.0.1", 9092),
        ("localhost:0", "localhost", 0),
        ("broker.example.:1", "broker.example.", 1),
        ("PLAINTEXT://:9092", "", 9092),
        ("PLAINTEXT://[::1]:9092", "::1", 9092),
    ],
)
def test_listener_is_parsed_and_written_back(text: str, host: str, port: int) -> None:
    listener = parse_listener(text)
    assert listener == Listener(name="PLAINTEXT", host=host, port=port)
    assert parse_listener(str(listener)) == listener


@pytest.mark.parametrize(
    "text",
    [
        *("", "host", "host:", "host:x", "host:65536", "SSL://h:1", "://h:1", "::1:9092", "a/b:1", "h:٣"),
        *("a..b:1", ".a:1", f"{'a' * 64}.example:1"),
    ],
)
def test_malformed_listener_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_listener(text)
