"""Whether a name fits the pattern of ``patternProperties``, for patterns that are plain enough to tell.

Running anybody's regular expressions on anybody's names would let a schema keep us busy for ever. So only
patterns of a beginning, an end, or some letters within are understood; of all others the answer is None.
"""

import re

_PLAIN = re.compile(r"(\^?)((?:[A-Za-z0-9_\- :@/]|\\[.\-/$])*)(\$?)")
_ANYTHING = frozenset({"", ".*", "^.*", "^.*$", ".*$"})
_SOMETHING = frozenset({".+", "^.+", "^.+$", ".+$", "."})


def matches(pattern: str, name: str) -> bool | None:
    """Whether a pattern is found in a name; None if that is not known."""
    if pattern in _ANYTHING:
        return True
    if pattern in _SOMETHING:
        return bool(name) if "\n" not in name else None
    found = _PLAIN.fullmatch(pattern)
    if found is None:
        return None
    start, text, end = found.group(1), found.group(2).replace("\\", ""), found.group(3)
    if start and end:
        return name == text
    if start:
        return name.startswith(text)
    return name.endswith(text) if end else text in name
