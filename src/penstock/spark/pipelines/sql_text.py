"""What can be told of a piece of SQL without Spark: its words, the tables it reads, whether it is cut short.

This is no parser. It splits text into words as Spark does (comments, strings, quoted names) and finds names
that follow FROM and JOIN where a query stands; whether the SQL makes sense is for Spark to say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      | (?P<name>`(?:[^`]|``)*`|[^\W\d]\w*)
      | (?P<number>\d[\w.]*)
      | (?P<open>\() | (?P<close>\))
      | (?P<other>\|>|.)""",
    re.VERBOSE | re.DOTALL,
)
_QUERY_WORDS = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("})
_ENDS_OF_FROM = frozenset(
    {
        *("WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "WINDOW"),
        *("SORT", "CLUSTER", "DISTRIBUTE", "QUALIFY", "SELECT", "|>"),
    }
)
_PREFIXES = frozenset({"LATERAL", "STREAM", "ONLY"})
_MOMENTS = {
    "CURRENT_TIMESTAMP": "timestamp_millis({0})",
    "NOW": "timestamp_millis({0})",
    "LOCALTIMESTAMP": "CAST(timestamp_millis({0}) AS timestamp_ntz)",
    "CURRENT_DATE": "CAST(timestamp_millis({0}) AS date)",
    "CURDATE": "CAST(timestamp_millis({0}) AS date)",
    "UNIX_TIMESTAMP": "unix_seconds(timestamp_millis({0}))",
}
"""What Spark puts in place of the time, by the words for it."""
_NEED_BRACKETS = frozenset({"NOW", "LOCALTIMESTAMP", "CURDATE", "UNIX_TIMESTAMP"})
"""Without them these are names of columns."""
_CHANCES = frozenset(
    {
        *("RAND", "RANDOM", "RANDN", "RANDSTR", "UNIFORM", "UUID", "SHUFFLE"),
        *("MONOTONICALLY_INCREASING_ID", "SPARK_PARTITION_ID"),
        *("CURRENT_TIME", "LOCALTIME"),  # For these Spark does not take the time of the micro-batch.
    }
)
"""Functions that give something else whenever they are asked."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of SQL and where it stands."""

    kind: str
    text: str
    offset: int

    @property
    def upper(self) -> str:
        """As keywords are compared."""
        return self.text.upper()


@dataclass(frozen=True, slots=True)
class TextMistake:
    """What is wrong at an offset of a text, and what to write."""

    offset: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class TableReference:
    """A table that a query reads; ``parts`` are the names between dots, ``end`` is where they end."""

    parts: tuple[str, ...]
    offset: int
    end: int

    @property
    def name(self) -> str:
        """With its dots."""
        return ".".join(self.parts)


def tokens(sql: str) -> list[Token]:
    """All words but blanks and comments."""
    found = (Token(str(match.lastgroup), match[0], match.start()) for match in _TOKEN.finditer(sql))
    return [token for token in found if token.kind != "space"]


def unbalanced(sql: str) -> TextMistake | None:
    """The first bracket or quote without its other half."""
    opened: list[Token] = []
    for token in tokens(sql):
        if token.kind == "open":
            opened.append(token)
        elif token.kind == "close":
            if not opened:
                return TextMistake(token.offset, "this ) closes nothing")
            opened.pop()
        elif token.text in ("'", '"', "`"):
            return TextMistake(token.offset, f"this {token.text} has no end")
    return TextMistake(opened[-1].offset, "this ( is never closed") if opened else None


def tables_read(sql: str) -> tuple[TableReference, ...]:
    """The tables after FROM and JOIN, in their order; names that the query itself defines are left out."""
    words = tokens(sql)
    own = set(_common_tables(words))
    return tuple(each for each in _references(words) if each.name.lower() not in own)


def with_input(sql: str, name: str, *, reading: str) -> str:
    """The query with one more name that it may read: ``name`` stands for the table ``reading``."""
    definition = f"{name} AS (SELECT * FROM {reading})"
    words = tokens(sql)
    if not words or words[0].upper != "WITH":
        return f"WITH {definition} {sql}"
    last = words[1] if len(words) > 1 and words[1].upper == "RECURSIVE" else words[0]
    end = last.offset + len(last.text)
    return f"{sql[:end]} {definition},{sql[end:]}"


def as_of(sql: str, moment_ms: int) -> str:
    """The same with a fixed time in place of the present one: what it was for Spark, at that moment."""
    words = tokens(sql)
    made, done = "", 0
    for number, word in enumerate(words):
        if word.upper not in _MOMENTS or _is_name(words, number):
            continue
        has_brackets = [each.kind for each in words[number + 1 : number + 3]] == ["open", "close"]
        if has_brackets or (word.upper not in _NEED_BRACKETS and not _is_call(words, number)):
            last = words[number + 2] if has_brackets else word
            made += sql[done : word.offset] + _MOMENTS[word.upper].format(moment_ms)
            done = last.offset + len(last.text)
    return made + sql[done:]


def chance(sql: str) -> str:
    """The first function in a piece of SQL that gives something else each time; empty if there is none."""
    words = tokens(sql)
    return next(
        (
            word.text
            for number, word in enumerate(words)
            if word.upper in _CHANCES and _is_call(words, number) and not _is_name(words, number)
        ),
        "",
    )


def _is_call(words: list[Token], number: int) -> bool:
    return number + 1 < len(words) and words[number + 1].kind == "open"


def _is_name(words: list[Token], number: int) -> bool:
    """Whether a word can only be a name, as in ``orders.now`` and ``ts AS now``."""
    return number > 0 and words[number - 1].upper in (".", "AS")


def _common_tables(words: list[Token]) -> Iterator[str]:
    """Names defined by ``WITH name AS (`` and ``, name AS (``."""
    for number, word in enumerate(words[:-2]):
        follows = number > 0 and (
            words[number - 1].upper in ("WITH", "RECURSIVE") or words[number - 1].text == ","
        )
        if word.kind == "name" and follows:
            rest = number + 1
            if words[rest].kind == "open":  # WITH name (column, ...) AS (
                while rest < len(words) and words[rest].kind != "close":
                    rest += 1
                rest += 1
            if rest + 1 < len(words) and words[rest].upper == "AS" and words[rest + 1].kind == "open":
                yield _unquoted(word.text).lower()


@dataclass(slots=True)
class _Level:
    """What stands between two brackets, or outside of all."""

    is_query: bool
    in_from: bool
    """Whether a comma is followed by one more table."""


def _references(words: list[Token]) -> Iterator[TableReference]:
    """Names in the place of a table: after FROM or JOIN, after each comma of a FROM, in brackets there."""
    levels = [_Level(is_query=True, in_from=False)]
    place = -1
    for number, word in enumerate(words):
        level, is_place = levels[-1], number == place
        if is_place and (found := _reference_at(words, number)):
            yield found
        if word.kind == "open":
            is_query = is_place or (number + 1 < len(words) and words[number + 1].upper in _QUERY_WORDS)
            levels.append(_Level(is_query=is_query, in_from=is_place))
            place = number + 1 if is_place else place
        elif word.kind == "close" and len(levels) > 1:
            levels.pop()
        elif _precedes_table(words, number, level):
            level.in_from = True
            place = number + 1
        elif _ends_from(words, number, is_place=is_place):
            level.in_from = False


def _precedes_table(words: list[Token], number: int, level: _Level) -> bool:
    word = words[number]
    if word.text == ",":
        return level.in_from
    is_distinct_from = number > 0 and words[number - 1].upper == "DISTINCT"
    return level.is_query and word.upper in ("FROM", "JOIN") and not is_distinct_from


def _ends_from(words: list[Token], number: int, *, is_place: bool) -> bool:
    """Whether the commas that follow are between something else, such as the columns of a LATERAL VIEW."""
    word = words[number]
    if is_place and word.upper in _QUERY_WORDS:  # A query begins in the place of a table.
        return True
    is_lateral_view = word.upper == "VIEW" and number > 0 and words[number - 1].upper == "LATERAL"
    return is_lateral_view or word.upper in _ENDS_OF_FROM


def _reference_at(words: list[Token], number: int) -> TableReference | None:
    """The name that begins at a word; None for a subquery, a function, or nothing."""
    while number < len(words) and words[number].upper in _PREFIXES and number + 1 < len(words):
        number += 1
        if words[number].kind == "open" and words[number - 1].upper == "STREAM":
            number += 1
    if number >= len(words) or words[number].kind != "name" or words[number].upper in _QUERY_WORDS:
        return None
    first, parts = words[number], [_unquoted(words[number].text)]
    while number + 2 < len(words) and words[number + 1].text == "." and words[number + 2].kind == "name":
        number += 2
        parts.append(_unquoted(words[number].text))
    if number + 1 < len(words) and words[number + 1].kind == "open":
        return None
    last = words[number]
    return TableReference(tuple(parts), first.offset, last.offset + len(last.text))


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
