"""Java's properties format, as Kafka's ``server.properties`` is written in."""

from collections.abc import Iterator

from penstock.config.definition import ConfigError
from penstock.config.names import normalise, unique


def parse_properties(text: str) -> dict[str, str]:
    """Settings out of Java properties: ``name=value`` lines, ``#`` comments, backslash continuation."""
    pairs = (_split_property(line) for line in _logical_lines(text))
    return unique((normalise(name), value) for name, value in pairs)


def _logical_lines(text: str) -> Iterator[str]:
    """Lines with continuations joined, without comments and blanks."""
    pending = ""
    for raw in text.splitlines():
        line = raw.lstrip()
        if not pending and (not line or line[0] in "#!"):
            continue
        pending += line
        if (len(pending) - len(pending.rstrip("\\"))) % 2:
            pending = pending[:-1]
            continue
        yield pending
        pending = ""
    if pending:
        yield pending


def _split_property(line: str) -> tuple[str, str]:
    """Name and value: the first unescaped ``=``, ``:`` or blank parts them."""
    position, escaped = 0, False
    while position < len(line) and (escaped or line[position] not in "=: \t\f"):
        escaped = line[position] == "\\" and not escaped
        position += 1
    name, rest = line[:position], line[position:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescape(name), _unescape(rest).rstrip()


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            out.append(character)
            continue
        escaped = next(characters, "")
        if escaped == "u":
            out.append(_unicode_escape("".join(next(characters, "") for _ in range(4))))
        else:
            out.append({"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(escaped, escaped))
    return "".join(out)


def _unicode_escape(digits: str) -> str:
    try:
        return chr(int(digits, 16))
    except ValueError:
        # Without what stands there: it may be a piece of a password.
        raise ConfigError("has a malformed escape: four hexadecimal digits follow \\u.") from None
