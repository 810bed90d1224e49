"""Subjects, versions and differences, as the console tells them."""

import json
from typing import Any

import httpx2
import pytest
from tests.conftest import UniqueName
from tests.gateway.console.asking import get, refusal

from penstock.gateway.console.schemas.difference import difference
from penstock.gateway.server import GatewayServer


def record(*names: str) -> str:
    fields = [{"name": name, "type": "long", "default": 0} for name in names]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


@pytest.fixture(scope="module")
def subject(gateway: GatewayServer, unique: UniqueName) -> str:
    """A subject of two versions."""
    name = unique("orders") + "-value"
    for text in (record("id"), record("id", "total")):
        answer = httpx2.post(f"{gateway.url}/subjects/{name}/versions", json={"schema": text}, timeout=30)
        answer.raise_for_status()
    return name


def test_subjects_are_listed_with_what_holds_for_them(gateway: GatewayServer, subject: str) -> None:
    told = get(gateway.url, "schemas")
    (one,) = [each for each in told["subjects"] if each["subject"] == subject]
    assert (one["kind"], one["versions"], one["version"], one["level"]) == ("AVRO", 2, 2, "BACKWARD")
    assert not one["has_own_level"]
    assert "FULL_TRANSITIVE" in told["levels"]


def test_versions_are_told_newest_first_over_several_lines(gateway: GatewayServer, subject: str) -> None:
    told = get(gateway.url, "schemas/subject", name=subject)
    assert [each["version"] for each in told["versions"]] == [2, 1]
    assert len(told["versions"][0]["text"].splitlines()) > 10


def test_difference_names_the_lines_that_were_added(gateway: GatewayServer, subject: str) -> None:
    rows = get(gateway.url, "schemas/difference", name=subject, left=1, right=2)["rows"]
    added = [row["right"].strip() for row in rows if row["kind"] == "added"]
    assert '"name": "total",' in added
    assert all(row["left"] == row["right"] for row in rows if row["kind"] == "same")


@pytest.mark.parametrize(
    ("where", "query"),
    [
        ("schemas/subject", {"name": "nobody"}),
        ("schemas/difference", {"name": "nobody", "left": 1, "right": 2}),
    ],
)
def test_a_subject_that_is_not_there_is_told(
    gateway: GatewayServer, where: str, query: dict[str, Any]
) -> None:
    status, told = refusal(gateway.url, where, **query)
    assert (status, told["error_code"]) == (404, 40401)


def test_a_version_that_is_not_there_is_told(gateway: GatewayServer, subject: str) -> None:
    status, told = refusal(gateway.url, "schemas/difference", name=subject, left=1, right=9)
    assert (status, told["error_code"]) == (404, 40402)


def test_changed_lines_stand_beside_each_other() -> None:
    rows = difference("a\nb\nc", "a\nB\nc\nd")
    assert [(row.kind, row.left, row.right) for row in rows] == [
        ("same", "a", "a"),
        ("changed", "b", "B"),
        ("same", "c", "c"),
        ("added", None, "d"),
    ]
