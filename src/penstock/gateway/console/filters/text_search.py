"""Text inside payloads, whatever its case: by bytes where that is enough, by decoded text where it is not."""

import json
from collections.abc import Callable
from typing import Any

from penstock.gateway.console.filters.candidate import MISSING, Candidate, is_framed
from penstock.records.lazy_record import LazyRecord

_ESCAPED = b"\\u"


class Needle:
    """A text to look for."""

    __slots__ = ("_bytes", "_is_ascii", "_text")

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._is_ascii = text.isascii()
        self._bytes = self._text.encode()

    def is_in_bytes(self, payload: bytes) -> bool:
        """Whether the text stands in ``payload`` as it is."""
        if self._is_ascii:
            return self._bytes in payload.lower()
        return self._text in payload.decode("utf-8", "replace").casefold()

    def is_in_document(self, document: Any) -> bool:
        """Whether the text stands in a document as people are shown it."""
        return document is not MISSING and self._text in _shown(document).casefold()

    def is_in_payload(self, candidate: Candidate, *, is_of_key: bool) -> bool:
        """Whether the text stands in the key or the value, decoded if need be."""
        payload = candidate.payload(is_of_key=is_of_key)
        if payload is None:
            return False
        if self.is_in_bytes(payload):
            return True
        is_other_inside = bool(payload) and (
            is_framed(payload) or (not self._is_ascii and _ESCAPED in payload)
        )
        return is_other_inside and self.is_in_document(candidate.document(is_of_key=is_of_key))

    def is_in_headers(self, candidate: Candidate) -> bool:
        """Whether the text stands in a header's value, or in its name."""
        record = candidate.record
        if self._is_ascii and isinstance(record, LazyRecord) and not self.is_in_bytes(record.header_bytes):
            return False
        return any(
            self.is_in_bytes(name.encode("utf-8", "surrogateescape"))
            or (value is not None and self.is_in_bytes(value))
            for name, value in candidate.headers
        )

    def is_anywhere(self, candidate: Candidate) -> bool:
        """Whether the text stands in value, key or headers."""
        return (
            self.is_in_payload(candidate, is_of_key=False)
            or self.is_in_payload(candidate, is_of_key=True)
            or self.is_in_headers(candidate)
        )


def compile_pattern(pattern: str) -> Callable[[bytes], bool]:
    """Whether a regular expression of RE2, which takes no longer than its input is long, is found in bytes.

    Raises ValueError with the reason for one that is none.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        compiled = re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(reason) from error
    return lambda payload: compiled.search(payload) is not None


def _shown(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, default=str)
