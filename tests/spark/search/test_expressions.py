"""Paths into JSON are spelled out, of the type they are compared with; nothing else is touched."""

import pytest

from penstock.spark.search.expressions import rewrite


def field(path: str, wanted: str) -> str:
    return f"try_variant_get(json, '{path}', '{wanted}')"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("json:name = 'a'", field("$.name", "string") + " = 'a'"),
        ("json:user.name IS NULL", field("$.user.name", "string") + " IS NULL"),
        ("json:amount > 10", field("$.amount", "double") + " > 10"),
        ("json:amount >= -1.5e3", field("$.amount", "double") + " >= -1.5e3"),
        ("10<json:amount", "10<" + field("$.amount", "double")),
        ("json:n BETWEEN 1 AND 2", field("$.n", "double") + " BETWEEN 1 AND 2"),
        ("json:n not in (1, 2)", field("$.n", "double") + " not in (1, 2)"),
        ("json:id = 12345678901234567890", field("$.id", "decimal(38,0)") + " = 12345678901234567890"),
        ("json:x > -0.1234567890123456", field("$.x", "decimal(38,16)") + " > -0.1234567890123456"),
        ("json:x < 1.2345678901234567e9", field("$.x", "double") + " < 1.2345678901234567e9"),
        ("json:ok = TRUE", field("$.ok", "boolean") + " = TRUE"),
        ("json:amount::decimal(10, 2) > 1", field("$.amount", "decimal(10, 2)") + " > 1"),
        ("json:at::timestamp > timestamp", field("$.at", "timestamp") + " > timestamp"),
        ("json:tags[0] = 'x'", field("$.tags[0]", "string") + " = 'x'"),
        ("json:a['b c'].d = 'x'", field("$.a[\\'b c\\'].d", "string") + " = 'x'"),
        ("json:['odd name'] = 'x'", field("$[\\'odd name\\']", "string") + " = 'x'"),
        ("JSON:a = 'x'", field("$.a", "string") + " = 'x'"),
        ("json:year = '2026'", field("$.year", "string") + " = '2026'"),
    ],
)
def test_paths_are_spelled_out(written: str, expected: str) -> None:
    assert rewrite(written).text == expected


@pytest.mark.parametrize(
    "written",
    [
        "value = 'json:name > 1'",
        'value = "json:name"',
        "value LIKE 'it\\'s json:x%'",
        "`json:a` = 1",
        "1 = 1 -- json:a",
        "/* json:a */ 1 = 1",
        "json IS NOT NULL",
        "myjson:a = 'x'",
        "offset::string = '1'",
    ],
)
def test_everything_else_stays_as_it_is(written: str) -> None:
    assert rewrite(written).text == written


def test_positions_lead_back_to_what_was_written() -> None:
    written = "json:a = 'x' AND json:b.c > 1 OR nowhere = 2"
    expression = rewrite(written)

    for word in ("AND", "OR", "nowhere", "= 2"):
        assert expression.position(expression.text.index(word)) == written.index(word)
    assert expression.position(expression.text.index("'$.b.c'")) == written.index("json:b.c")
    assert expression.position(0) == 0
    assert expression.position(10_000) == len(written)
