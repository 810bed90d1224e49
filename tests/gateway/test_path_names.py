"""Names in paths come out as they went in."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway.path_names import PathName, encoded_path


@given(st.text(min_size=1))
def test_any_name_is_one_part_and_comes_back(name: str) -> None:
    empty, groups, part, offsets = encoded_path(f"/groups/{quote(name, safe='')}/offsets".encode()).split("/")

    assert (empty, groups, offsets) == ("", "groups", "offsets")
    assert PathName().convert(part) == name
    assert PathName().to_string(name) == part


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"/%74opics", "/topics"),
        (b"/a%2fb", "/a%2Fb"),
        (b"/a/b/", "/a/b/"),
        (b"/100%", "/100%25"),
        (b"/%FF", "/%EF%BF%BD"),
        (b"*", "%2A"),
    ],
)
def test_paths_are_written_alike(sent: bytes, seen: str) -> None:
    assert encoded_path(sent) == seen
