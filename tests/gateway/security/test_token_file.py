"""The token in its file."""

import stat
from pathlib import Path

import pytest

from penstock.gateway.security.token_file import default_token_file, make_token, read_token
from penstock.model.errors import OperatingError, UsageError


def test_made_token_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "token"

    token = make_token(path)

    assert len(token) >= 40
    assert read_token(path) == token
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_token_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("the one that is there\n")

    with pytest.raises(OperatingError, match="cannot be written"):
        make_token(path)

    assert read_token(path) == "the one that is there"


@pytest.mark.parametrize("content", ["", "\n", "one\ntwo", "x" * 5000, "schlüssel"])
def test_file_without_a_usable_token_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    path.write_text(content)

    with pytest.raises(UsageError, match="must hold one line"):
        read_token(path)


def test_state_directory_is_heeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert default_token_file() == tmp_path / "penstock" / "gateway-token"
