"""Amounts of bytes, as people type and read them."""

import re

from penstock.model.errors import UsageError

_BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB")
_STEP = 1024
_FACTORS = {
    "": 1,
    **{unit.lower(): _STEP ** (power + 1) for power, unit in enumerate(_BINARY)},
    **{unit: 1000 ** (power + 1) for power, unit in enumerate(("kb", "mb", "gb", "tb"))},
}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")


def parse_rate(text: str, *, option: str) -> int:
    """Bytes a second of ``1048576``, ``50MB``, ``50MiB/s``; at least one."""
    rate = _parse(text.strip().lower().removesuffix("/s"))
    if rate is None:
        raise UsageError(f"{option} {text!r} is no rate like 1048576, 50MB or 50MiB/s.")
    return rate


def parse_size(text: str, *, option: str) -> int:
    """Bytes of ``1048576``, ``50MB``, ``50MiB``; at least one."""
    size = _parse(text)
    if size is None:
        raise UsageError(f"{option} {text!r} is no size like 1048576, 50MB or 50MiB.")
    return size


def _parse(text: str) -> int | None:
    match = _AMOUNT.fullmatch(text.strip().lower())
    unit = "" if match is None else match[2].removesuffix("b") if match[2] == "b" else match[2]
    if match is None or unit not in _FACTORS or float(match[1]) * _FACTORS[unit] < 1:
        return None
    return int(float(match[1]) * _FACTORS[unit])


def format_bytes(count: int) -> str:
    """At most four digits and a unit: ``512 B``, ``1.5 KiB``, ``230 GiB``."""
    amount, unit = float(count), "B"
    for larger in _BINARY:
        if amount < _STEP:
            break
        amount, unit = amount / _STEP, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
