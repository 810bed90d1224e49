"""Asking a registry's server: what it knows, what it refuses, and when it is away."""

import socket
import time

import pytest
from tests.spark.registry.stand_in import StandIn

from penstock.model.errors import UsageError
from penstock.spark.registry.address import Registry
from penstock.spark.registry.errors import (
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaUnsupportedError,
)
from penstock.spark.registry.lookup import lookup_at, referred_by
from penstock.spark.registry.registered import Format, Reference, RegisteredSchema
from penstock.spark.registry.rest_registry import RestRegistry


def test_schema_is_asked_for_once(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": '"string"'})
    rest = RestRegistry(Registry(url=registry.url))
    first, second = rest.by_id(1), rest.by_id(1)
    assert first is second
    assert (first.text, first.format, first.schema_id) == ('"string"', Format.AVRO, 1)
    assert registry.requests == ["GET /schemas/ids/1"]


def test_schema_is_found_by_its_guid(registry: StandIn) -> None:
    guid = registry.register("orders-value", {"schema": "{}", "schemaType": "JSON"})["guid"]
    assert RestRegistry(Registry(url=registry.url)).by_guid(guid).format is Format.JSON


def test_latest_is_never_remembered(registry: StandIn) -> None:
    rest = RestRegistry(Registry(url=registry.url))
    registry.register("a/b-value", {"schema": '"string"'})
    assert rest.latest("a/b-value").version == 1
    registry.register("a/b-value", {"schema": '"long"'})
    assert (rest.latest("a/b-value").version, rest.version("a/b-value", 1).text) == (2, '"string"')


def test_register_and_look_up_give_the_id(registry: StandIn) -> None:
    rest = RestRegistry(Registry(url=registry.url))
    schema = RegisteredSchema(schema_id=None, text='{"type": "object"}', format=Format.JSON)
    assert rest.register("orders-value", schema).schema_id == 1
    assert rest.register("others-value", schema).schema_id == 1
    assert rest.look_up("orders-value", schema).schema_id == 1
    with pytest.raises(SchemaNotFoundError, match="nobody-value"):
        rest.look_up("nobody-value", schema)


def test_unknown_id_is_named_and_not_asked_for_again_at_once(registry: StandIn) -> None:
    rest = RestRegistry(Registry(url=registry.url))
    for _ in range(3):
        with pytest.raises(SchemaNotFoundError, match=f"{registry.url}: GET /schemas/ids/7: .*40403"):
            rest.by_id(7)
    assert len(registry.requests) == 1


def test_failure_that_may_pass_is_tried_again(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": '"string"'})
    registry.failures_left = 2
    assert RestRegistry(Registry(url=registry.url)).by_id(1).text == '"string"'
    assert len(registry.requests) == 3


def test_failure_that_stays_is_told(registry: StandIn) -> None:
    registry.failures_left = 9
    with pytest.raises(RegistryUnavailableError, match=r"503 try later .*tried 2 times"):
        RestRegistry(Registry(url=registry.url, attempts=2)).by_id(1)


def test_next_server_answers_for_one_that_is_away(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": '"string"'})
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    address = Registry(url=f"http://127.0.0.1:{port}, {registry.url}/")
    assert RestRegistry(address).by_id(1).text == '"string"'


def test_server_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Registry(url=f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_seconds=0.1, attempts=2)
        started = time.monotonic()
        with pytest.raises(RegistryUnavailableError, match="is it running"):
            RestRegistry(address).by_id(1)
    assert time.monotonic() - started < 5


def test_server_that_is_no_registry_is_not_taken_for_one_without_schemas(registry: StandIn) -> None:
    registry.authorization = "never"
    with pytest.raises(RegistryUnavailableError, match="401 Unauthorized"):
        RestRegistry(Registry(url=registry.url)).by_id(1)


def test_basic_authentication_from_setting_and_from_url(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": '"string"'})
    registry.authorization = "Basic dXNlcjpwYXNzOndvcmQ="
    host = registry.url.removeprefix("http://")
    for address in (
        Registry(url=registry.url, basic_auth="user:pass:word"),
        Registry(url=f"http://user:pass%3Aword@{host}"),
    ):
        assert RestRegistry(address).by_id(1).text == '"string"'


def test_bearer_token_is_sent(registry: StandIn) -> None:
    registry.register("orders-value", {"schema": '"string"'})
    registry.authorization = "Bearer abc"
    assert RestRegistry(Registry(url=registry.url, bearer_token="abc")).by_id(1).text == '"string"'


def test_no_secret_is_in_any_text(registry: StandIn) -> None:
    host = registry.url.removeprefix("http://")
    address = Registry(url=f"http://user:secret@{host}")
    assert "secret" not in repr(address)
    assert "secret" not in repr(Registry(url=registry.url, basic_auth="user:secret"))
    registry.authorization = "other"
    with pytest.raises(RegistryUnavailableError) as caught:
        RestRegistry(address).by_id(1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://host", "file:///etc/passwd", "host:8081", "http://"])
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="http://host:8081"):
        Registry(url=url)


def test_two_ways_in_are_refused() -> None:
    with pytest.raises(UsageError, match="not with both"):
        Registry(url="http://host", basic_auth="a:b", bearer_token="c")


def test_same_address_is_one_memory() -> None:
    assert lookup_at(Registry(url="http://host")) is lookup_at(Registry(url="http://host"))


def test_references_come_with_what_they_need_first(registry: StandIn) -> None:
    inner = {"name": "inner", "subject": "inner", "version": 1}
    outer = {"name": "outer", "subject": "outer", "version": 1}
    registry.register("inner", {"schema": "1"})
    registry.register("outer", {"schema": "2", "references": [inner]})
    registry.register("orders-value", {"schema": "3", "references": [outer, inner]})
    rest = RestRegistry(Registry(url=registry.url))
    assert list(referred_by(rest.by_id(3), rest).items()) == [("inner", "1"), ("outer", "2")]


def test_circle_of_references_ends(registry: StandIn) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        references = [{"name": other, "subject": other, "version": 1}]
        registry.register(name, {"schema": name, "references": references})
    rest = RestRegistry(Registry(url=registry.url))
    schema = RegisteredSchema(schema_id=9, text="", references=(Reference(name="a", subject="a", version=1),))
    assert referred_by(schema, rest) == {"b": "b", "a": "a"}


def test_answer_without_a_schema_is_refused(registry: StandIn) -> None:
    registry.schemas.append({"schema": 5})
    with pytest.raises(SchemaUnsupportedError, match="No text of a schema"):
        RestRegistry(Registry(url=registry.url)).by_id(1)
