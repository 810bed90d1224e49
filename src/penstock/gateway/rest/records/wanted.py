"""Records that somebody wants to be sent, as JSON says them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.gateway.rest.parameters import TIMESTAMP_MAX
from penstock.gateway.rest.records.cursor import PARTITION_MAX
from penstock.gateway.rest.records.formats import Format, encode
from penstock.gateway.rest.records.schema_payloads import SchemaChoice

RECORDS_MAX = 10_000
HEADERS_MAX = 1_000


class WantedHeader(BaseModel):
    """A header to be sent; a value of null is none."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=10_000)
    value: Any = None
    format: Format = Format.AUTO


class WantedRecord(BaseModel):
    """A record to be sent. What is left out: no key, a tombstone, any partition, now."""

    model_config = ConfigDict(extra="forbid")

    key: Any = None
    value: Any = None
    key_format: Format | None = None
    value_format: Format | None = None
    headers: Annotated[list[WantedHeader], Field(max_length=HEADERS_MAX)] | dict[str, str | None] = []
    partition: int | None = Field(default=None, ge=0, le=PARTITION_MAX)
    timestamp: int | None = Field(default=None, ge=0, le=TIMESTAMP_MAX)

    def raw_headers(self) -> list[tuple[str, bytes | None]]:
        """Names and bytes."""
        if isinstance(self.headers, dict):
            return [
                (name, encode(text, Format.STRING, what=f"header {name[:100]!r}"))
                for name, text in self.headers.items()
            ]
        return [
            (each.name, encode(each.value, each.format, what=f"header {each.name[:100]!r}"))
            for each in self.headers
        ]


class WantedRecords(BaseModel):
    """Many records, or one: then its fields stand where ``records`` would."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "records": [
                        {"key": "valve", "value": {"order": 1}},
                        {"key": "pump", "value": {"order": 2}},
                    ]
                },
                {"key": "valve", "value": {"order": 1}, "headers": {"source": "shop"}},
                {"value_format": "binary", "records": [{"value": "AAEC"}]},
                {"value_schema": {"subject": "orders-value"}, "records": [{"value": {"order": 1}}]},
            ]
        },
    )

    records: Annotated[list[WantedRecord], Field(min_length=1, max_length=RECORDS_MAX)]
    key_format: Format = Format.AUTO
    value_format: Format = Format.AUTO
    key_schema: SchemaChoice | None = None
    """By which schema keys are written whose format is `schema`, which is then the usual one."""
    value_schema: SchemaChoice | None = None
    """The same of values."""

    @model_validator(mode="before")
    @classmethod
    def _one_is_many(cls, given: Any) -> Any:
        if isinstance(given, dict) and "records" not in given:
            schemas = {name: given[name] for name in ("key_schema", "value_schema") if name in given}
            one = {name: each for name, each in given.items() if name not in schemas}
            return {"records": [one], **schemas}
        return given

    def format_of(self, record: WantedRecord, what: str) -> Format:
        """How the ``key`` or ``value`` of a record is given."""
        own: Format | None = getattr(record, f"{what}_format")
        usual: Format = getattr(self, f"{what}_format")
        if own is None and usual is Format.AUTO and getattr(self, f"{what}_schema") is not None:
            return Format.SCHEMA
        return usual if own is None else own
