"""What a decision is: records to append, and the answer to give once they are committed."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from penstock.metadata.records import MetadataRecord

Response = TypeVar("Response", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[Response]):
    """A decision. Nothing has changed yet; without records nothing will, and the answer may go at once."""

    #: All or none of them go into the log.
    records: tuple[MetadataRecord, ...]
    response: Response
