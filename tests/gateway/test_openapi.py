"""The description of the API is complete."""

from typing import Any

import pytest

from penstock.gateway.app import build_app
from penstock.gateway.gateway import Gateway
from penstock.gateway.settings import GatewaySettings

REST_TAGS = {"health", "cluster", "topics", "groups", "records"}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return build_app(Gateway(GatewaySettings())).openapi()


def operations(described: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if REST_TAGS & set(operation.get("tags", ()))
    ]


def test_every_operation_says_what_it_does_and_how_it_fails(described: dict[str, Any]) -> None:
    found = operations(described)

    assert len(found) > 20
    for name, operation in found:
        assert operation.get("description"), name
        assert "4XX" in operation["responses"], name


def test_every_parameter_is_described(described: dict[str, Any]) -> None:
    unsaid = [
        f"{name} {parameter['name']}"
        for name, operation in operations(described)
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]

    assert not unsaid


def test_every_body_has_an_example(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    for name, operation in operations(described):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            schema = content["schema"]
            choices = [each for each in (schema, *schema.get("anyOf", ())) if "$ref" in each]
            named = [schemas[each["$ref"].rpartition("/")[2]] for each in choices]
            assert any("example" in each or "examples" in each for each in named), name


def test_nothing_comes_from_elsewhere(described: dict[str, Any]) -> None:
    assert "servers" not in described
