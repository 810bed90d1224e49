"""Names of subjects and contexts."""

import pytest

from penstock.gateway.registry.values.subject_names import (
    bare_name,
    context_of,
    has_prefix,
    is_valid,
    qualified,
    within,
)


@pytest.mark.parametrize(
    ("text", "context", "name", "written"),
    [
        ("orders", ".", "orders", "orders"),
        (":.:orders", ".", "orders", "orders"),
        (":.team:orders", ".team", "orders", ":.team:orders"),
        (":.team:", ".team", "", ":.team:"),
        (":.team", ".team", "", ":.team:"),
        (":.team:a:b", ".team", "a:b", ":.team:a:b"),
        ("a:b", ".", "a:b", "a:b"),
    ],
)
def test_name_is_split_and_written_in_one_way(text: str, context: str, name: str, written: str) -> None:
    assert (context_of(text), bare_name(text), qualified(text)) == (context, name, written)
    assert qualified(qualified(text)) == written


def test_name_without_a_context_is_meant_where_it_stands() -> None:
    assert within(".team", "line") == ":.team:line"
    assert within(".team", ":.other:line") == ":.other:line"
    assert within(".", "line") == "line"


@pytest.mark.parametrize(
    ("subject", "prefix", "is_listed"),
    [
        ("orders", ":*:", True),
        (":.team:orders", ":*:", True),
        (":.team:orders", ":*:ord", True),
        (":.team:orders", ":.team:", True),
        (":.team:orders", ":.te", True),
        (":.team:orders", "", False),
        (":.team:orders", "ord", False),
        ("orders", "ord", True),
        ("orders", ":.:ord", True),
        ("orders", "x", False),
    ],
)
def test_listing_of_a_prefix(subject: str, prefix: str, is_listed: bool) -> None:
    assert has_prefix(subject, prefix) is is_listed


@pytest.mark.parametrize("subject", ["", "__GLOBAL", ":.team:__EMPTY", "a\nb", "x" * 1025])
def test_names_that_nobody_may_use(subject: str) -> None:
    assert not is_valid(subject)
