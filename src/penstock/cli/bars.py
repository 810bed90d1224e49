"""Bars made of characters, for tables in which lengths say more than numbers."""

import sys

_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_PLAIN = "#"


def bar(share: float, *, width: int) -> str:
    """A bar of ``share`` (0 to 1) of ``width``, in steps of an eighth; of ``#`` where there are no blocks.

    Whatever is not nothing can be seen.
    """
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    if not _has_blocks():
        return _PLAIN * -(-eighths // 8)
    full, rest = divmod(eighths, 8)
    return _FULL * full + (_EIGHTHS[rest] if rest else "")


def _has_blocks() -> bool:
    try:
        (_FULL + _EIGHTHS).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
