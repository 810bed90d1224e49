import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.config.definition import ConfigError
from penstock.config.files import FILE_BYTES_MAX, parse_json, parse_yaml, read_config_file
from penstock.config.properties import parse_properties

NAMES = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8}){0,3}", fullmatch=True)
VALUES = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=20).map(str.strip)


def test_yaml_nested_maps_are_joined_by_dots() -> None:
    text = "log:\n  retention: {ms: 5, bytes: 7}\n  roll_ms: 9\nlisteners: [a, b]\nx: no\nport: 1:30\n"
    assert parse_yaml(text) == {
        "log.retention.ms": "5",
        "log.retention.bytes": "7",
        "log.roll.ms": "9",
        "listeners": "a,b",
        "x": "no",
        "port": "1:30",
    }


def test_yaml_empty_file_sets_nothing() -> None:
    assert parse_yaml("# nothing\n") == {}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a.b: 1\na: {b: 2}\n",
        "a_b: 1\na.b: 2\n",
        "- 1\n",
        "a: [",
        "a: {? [x] : 1}",
        "a: [{b: 1}]",
        "&a [*a]",
        "!!python/object:os.system x",
    ],
)
def test_yaml_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_yaml(text)


def test_json_keeps_numbers_as_written() -> None:
    text = (
        '{"log": {"retention.ms": 5, "retention": {"bytes": 1.50}}, "on": true, "off": null, "l": ["a", 1]}'
    )
    assert parse_json(text) == {
        "log.retention.ms": "5",
        "log.retention.bytes": "1.50",
        "on": "true",
        "l": "a,1",
    }


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1, "a": 2}', '{"a": [{}]}', "[" * 100_000])
def test_json_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_json(text)


def test_properties_take_java_spellings() -> None:
    text = (
        "# comment\n! comment\n\n a = 1\nb:2\nc 3\nd=x\\\n   y\ne=tab\\there\\u0041\\\\\n"
        "f=\nlog_dirs=/a b  \npath\\=x=1\n"
    )
    assert parse_properties(text) == {
        "a": "1",
        "b": "2",
        "c": "3",
        "d": "xy",
        "e": "tab\thereA\\",
        "f": "",
        "log.dirs": "/a b",
        "path=x": "1",
    }


def test_properties_last_line_may_continue_into_nothing() -> None:
    assert parse_properties("a=1\\") == {"a": "1"}


@pytest.mark.parametrize("text", ["a=1\na=2", "a=\\u00zz"])
def test_properties_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_properties(text)


def test_properties_with_a_broken_escape_are_refused_without_a_word_of_what_may_be_a_password() -> None:
    with pytest.raises(ConfigError, match="malformed escape") as caught:
        parse_properties("ssl.key.password=\\user")
    assert "ser" not in str(caught.value)


@given(st.dictionaries(NAMES, VALUES))
def test_json_and_yaml_and_properties_agree(settings: dict[str, str]) -> None:
    text = json.dumps(settings, ensure_ascii=False)
    assert parse_json(text) == settings
    assert parse_yaml(text) == settings
    lines = "\n".join(f"{name}={value}".replace("\\", "\\\\") for name, value in settings.items())
    assert parse_properties(lines) == settings


@given(st.text())
def test_any_text_parses_or_is_a_config_error(text: str) -> None:
    for parse in (parse_json, parse_yaml, parse_properties):
        with contextlib.suppress(ConfigError):
            parse(text)


@pytest.mark.parametrize("name", ["x.toml", "x"])
def test_file_of_unknown_kind_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"must end in one of"):
        read_config_file(tmp_path / name)


def test_file_that_is_missing_or_unfit_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broker.json"
    with pytest.raises(ConfigError, match=r"broker\.json: cannot be read: No such file"):
        read_config_file(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"broker\.json: is not UTF-8"):
        read_config_file(path)
    path.write_bytes(b" " * (FILE_BYTES_MAX + 1))
    with pytest.raises(ConfigError, match=r"the limit is"):
        read_config_file(path)
    path.write_text("{}")
    assert read_config_file(path) == {}
