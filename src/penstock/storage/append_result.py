"""What an append did."""

from typing import NamedTuple

NO_LOG_APPEND_TIME = -1


class AppendResult(NamedTuple):
    """Where a batch stands; acknowledge it once the log's flushed offset is behind ``last_offset``."""

    base_offset: int
    last_offset: int
    log_append_time: int
    """The broker's time that the records were given; -1 when they keep their producer's."""
    is_duplicate: bool
    """Whether it was in the log already: the answer to a retry, which is the first answer again."""
    log_start_offset: int
