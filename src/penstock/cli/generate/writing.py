"""Puts generated files where somebody wants them, and leaves alone what somebody has changed."""

from collections.abc import Mapping
from pathlib import Path

from penstock.cli.failure import CommandFailed
from penstock.model.errors import OperatingError

NAMED_MAX = 5


def write_files(directory: Path, files: Mapping[str, str], *, overwrites: bool) -> list[Path]:
    """Write what is not there as it should be; which files those were. None, if others are in the way."""
    wanted = {directory / path: text for path, text in files.items()}
    try:
        stale = {path: text for path, text in wanted.items() if _content(path) != text}
        changed = [path for path in stale if path.exists()]
        if changed and not overwrites:
            raise _in_the_way(changed)
        for path, text in stale.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperatingError(f"{directory} cannot be written: {error}.") from error
    return list(stale)


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _in_the_way(changed: list[Path]) -> CommandFailed:
    named = ", ".join(map(str, changed[:NAMED_MAX]))
    more = f" and {len(changed) - NAMED_MAX} more" if len(changed) > NAMED_MAX else ""
    return CommandFailed(
        f"There are other files already: {named}{more}. Nothing was written.",
        hint="Choose another --output, or say --force to replace them.",
    )
