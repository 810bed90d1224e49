"""The grammar of filters.

::

    filter  = one or more of: word, "quoted text", field operator literal, path [operator literal]
    fields  = key, value, header.NAME, partition, offset, timestamp, size
    paths   = $.order.total, $.items[*].sku, $["a name"], and $key... for JSON keys
    between = and (or nothing), or, not, brackets
    operators: ``:`` contains, whatever the case;  = != < <= > >=;  ``~`` a regular expression

A word alone is looked for in key, value and headers. A path alone, or a header alone, must be there.
"""

from collections.abc import Iterator
from itertools import chain

from penstock.gateway.console.filters import terms
from penstock.gateway.console.filters.errors import FilterError
from penstock.gateway.console.filters.json_path import parse_path
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.console.filters.tokens import Kind, Token, tokens

FILTER_CHARACTERS_MAX = 2_000
TOKENS_MAX = 200
DEPTH_MAX = 20


def compile_filter(text: str) -> Wanted | None:
    """A function that says whether a message is wanted; None for a filter that wants all."""
    if len(text) > FILTER_CHARACTERS_MAX:
        raise FilterError(
            f"A filter has at most {FILTER_CHARACTERS_MAX} characters, this one has {len(text)}",
            position=FILTER_CHARACTERS_MAX,
        )
    return _Parser(text).parse()


class _Parser:
    """One pass over the tokens, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._end = Token(Kind.CLOSE, "", len(text))
        self._tokens: Iterator[Token] = iter(chain(tokens(text), (self._end,)))
        self._next = next(self._tokens)
        self._count = 0
        self._depth = 0

    def parse(self) -> Wanted | None:
        if self._next is self._end:
            return None
        wanted = self._either()
        if self._next is not self._end:
            raise self._error("This bracket was never opened")
        return wanted

    def _either(self) -> Wanted:
        found = [self._both()]
        while self._is_word("or"):
            self._advance()
            found.append(self._both())
        return found[0] if len(found) == 1 else lambda candidate: any(each(candidate) for each in found)

    def _both(self) -> Wanted:
        found = [self._negated()]
        while not self._is(Kind.CLOSE) and not self._is_word("or"):
            if self._is_word("and"):
                self._advance()
            found.append(self._negated())
        return found[0] if len(found) == 1 else lambda candidate: all(each(candidate) for each in found)

    def _negated(self) -> Wanted:
        if not self._is_word("not"):
            return self._bracketed() if self._is(Kind.OPEN) else self._term()
        self._enter()
        inner = self._negated()
        self._depth -= 1
        return lambda candidate: not inner(candidate)

    def _bracketed(self) -> Wanted:
        opened = self._enter()
        inner = self._either()
        if self._next is self._end:
            raise FilterError("This bracket is never closed", position=opened.position)
        self._advance()
        self._depth -= 1
        return inner

    def _term(self) -> Wanted:
        if self._is(Kind.CLOSE) or self._is_word("and") or self._is_word("or"):
            raise self._error("Something to look for is missing here")
        operand = self._advance()
        if operand.kind in (Kind.WORD, Kind.QUOTED):
            return terms.text_anywhere(operand.text)
        if not self._is(Kind.OPERATOR):
            return _existing(operand)
        operator = self._advance()
        if not self._is(Kind.WORD, Kind.QUOTED):
            raise self._error(f"What should {operand.text} be compared with?")
        return _compared(operand, operator, self._advance())

    def _enter(self) -> Token:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._error(f"A filter goes at most {DEPTH_MAX} deep")
        return self._advance()

    def _advance(self) -> Token:
        taken = self._next
        self._count += 1
        if self._count > TOKENS_MAX:
            raise self._error(f"A filter has at most {TOKENS_MAX} words")
        self._next = next(self._tokens)
        return taken

    def _is(self, *kinds: Kind) -> bool:
        return self._next.kind in kinds

    def _is_word(self, word: str) -> bool:
        return self._is(Kind.WORD) and self._next.text.lower() == word

    def _error(self, message: str) -> FilterError:
        return FilterError(message, position=self._next.position)


def _existing(operand: Token) -> Wanted:
    if operand.kind is Kind.PATH:
        return terms.path_exists(parse_path(operand.text))
    return terms.header_exists(operand.text)


def _compared(operand: Token, operator: Token, wanted: Token) -> Wanted:
    try:
        if operand.kind is Kind.PATH:
            path = parse_path(operand.text)
            is_quoted = wanted.kind is Kind.QUOTED
            return terms.path_compared(path, operator.text, wanted.text, is_quoted=is_quoted)
        return terms.field_compared(operand.text, operator.text, wanted.text)
    except ValueError as error:
        raise FilterError(
            f"{operand.text} {operator.text} {wanted.text}: {error}", position=operator.position
        ) from error
