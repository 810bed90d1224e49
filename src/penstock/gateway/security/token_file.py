"""The token in a file that only its owner can read, made when there is none."""

import os
import secrets
from pathlib import Path

from penstock.model.errors import OperatingError, UsageError

TOKEN_BYTES = 32
TOKEN_CHARACTERS_MAX = 4096


def default_token_file() -> Path:
    """Where a token is kept unless somebody says where."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "penstock" / "gateway-token"


def read_token(path: Path) -> str:
    """The token in a file, without the spaces and lines around it."""
    try:
        with path.open(encoding="utf-8") as file:
            token = file.read(TOKEN_CHARACTERS_MAX + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The token file {path} cannot be read: {error}.") from error
    if not token or len(token) > TOKEN_CHARACTERS_MAX or not token.isascii() or not token.isprintable():
        raise UsageError(
            f"The token file {path} must hold one line of up to {TOKEN_CHARACTERS_MAX} ASCII characters."
        )
    return token


def make_token(path: Path) -> str:
    """A new token, written to a file that must not exist yet and that only its owner can read."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise OperatingError(f"The token file {path} cannot be written: {error}.") from error
    return token
