"""Parameters that several routes share, with what OpenAPI says of them."""

from enum import StrEnum
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict

from penstock.gateway.rest.records.cursor import OFFSET_MAX, PARTITION_MAX
from penstock.gateway.rest.records.formats import Format
from penstock.gateway.rest.records.start import End

TOPIC_NAME = r"^[a-zA-Z0-9._-]{1,249}$"
TIMESTAMP_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999."""


class Isolation(StrEnum):
    """Which records are read."""

    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


TopicName = Annotated[
    str, Path(pattern=TOPIC_NAME, description="The topic's name.", examples=["orders"], alias="topic")
]
PartitionNumber = Annotated[
    int | None, Query(ge=0, le=PARTITION_MAX, description="One partition alone; all, if it is left out.")
]
OffsetNumber = Annotated[
    int | None, Query(ge=0, le=OFFSET_MAX, description="Where to begin in `partition`, which must be given.")
]
Timestamp = Annotated[
    int | None,
    Query(ge=0, le=TIMESTAMP_MAX, description="Begin with the first record not older: milliseconds."),
]
From = Annotated[
    End | None, Query(alias="from", description="Begin with the oldest records, or after the youngest.")
]
CursorText = Annotated[
    str | None, Query(max_length=12_000, description="Go on exactly where an earlier answer ended.")
]
KeyFormat = Annotated[Format, Query(description="How keys are told; `auto`: as text, else base64.")]
ValueFormat = Annotated[
    Format, Query(description="How values are told; `auto`: as JSON, else text, else base64.")
]
IsolationLevel = Annotated[
    Isolation, Query(description="Whether records of open and aborted transactions are left out.")
]


class ErrorBody(BaseModel):
    """Every error of the gateway."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error_code": 40401,
                "message": "There is no topic 'orders'.",
                "error": "UNKNOWN_TOPIC_OR_PARTITION",
            }
        }
    )

    error_code: int
    """The HTTP status, with two more digits where there is more to tell."""
    message: str
    error: str | None = None
    """Kafka's name of the error, if Kafka had a say in it."""
