"""Entries of an export that no registry could live with."""

from typing import Any

import pytest

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.decisions.transferring import decide_import
from penstock.gateway.registry.state import RegistryState

SCHEMA: dict[str, Any] = {"type": "schema", "subject": "s", "version": 1, "id": 1, "schema": '"int"'}


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"type": "registry", "format": 1, "highestIds": {".": 2**31}}, 422),
        (SCHEMA | {"id": 2**31}, 42201),
        (SCHEMA | {"version": 2**31}, 42201),
        (SCHEMA | {"metadata": {"tags": {"a": "b"}}}, 42201),
        (SCHEMA | {"ruleSet": {"domainRules": [{"type": "CEL"}]}}, 42210),
        ({"type": "config", "subject": "s", "config": {"compatibilityLevel": "SIDEWARD"}}, 42203),
        ({"type": "config", "subject": None, "config": {"defaultMetadata": 5}}, 42201),
        ({"type": "config", "subject": 5, "config": {"normalize": True}}, 42208),
        ({"type": "mode", "subject": "a\x07b", "mode": "IMPORT"}, 42208),
    ],
)
def test_entry_that_would_stand_in_the_way_later_is_refused(entry: dict[str, Any], code: int) -> None:
    with pytest.raises(GatewayError) as refused:
        decide_import([entry])(RegistryState())
    assert refused.value.error_code == code


def test_entries_as_they_are_exported_are_taken() -> None:
    entries: list[dict[str, Any]] = [
        {"type": "registry", "format": 1, "highestIds": {".": 7}},
        SCHEMA | {"metadata": {"tags": {"a": ["b"]}, "properties": {"c": "d"}, "sensitive": ["c"]}},
        {"type": "config", "subject": ":.team:", "config": {"compatibilityLevel": "FULL"}},
        {"type": "mode", "subject": None, "mode": "READONLY"},
    ]
    assert decide_import(entries)(RegistryState()).answer.added_count == 4
