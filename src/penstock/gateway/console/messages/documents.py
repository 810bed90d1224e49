"""Documents for filters: what cannot be decoded is none, and no filter on fields matches it."""

from typing import Any

from penstock.gateway.console.filters.candidate import MISSING, Decode
from penstock.gateway.payloads.decoded import Decoder, UndecodableError


def documents(decode: Decoder) -> Decode:
    """The decoder as filters use it."""

    def document(payload: bytes) -> Any:
        try:
            return decode(payload).document
        except UndecodableError:
            return MISSING

    return document
