"""What can be wrong with a batch: its bytes (``CorruptBatchError``) or what it asks for (``RecordError``)."""

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError


class CorruptBatchError(ApiError):
    """Bytes that are no intact batch: too short, a wrong checksum, a length that lies."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.CORRUPT_MESSAGE, message)


class RecordError(ApiError):
    """An intact batch that this topic does not take; ``record_errors`` names single records by index."""

    def __init__(
        self, code: ErrorCode, message: str, record_errors: tuple[tuple[int, str], ...] = ()
    ) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors
