"""Records that were gone before they were read: which, why, and what to do about it. Never silent."""

import json
import logging
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.errors import OperatingError
from penstock.model.ids import TopicPartition
from penstock.spark.options.source_options import OnDataLoss

_log = logging.getLogger(__name__)


class Cause(StrEnum):
    """Why records are gone."""

    REMOVED = "retention, or a request to delete records, removed them"
    RECREATED = "the topic was deleted and made anew, and its records went with it"
    DELETED = "the topic or partition was deleted"
    TRUNCATED = "the partition ends before them now: its log was cut, or replaced by an older copy"


_REMEDIES = {
    Cause.REMOVED: "Read before records expire, or raise the topic's retention.ms or retention.bytes.",
    Cause.RECREATED: "Begin with a new checkpoint if the new topic is meant.",
    Cause.DELETED: "Take the topic out of the subscription, or begin with a new checkpoint.",
    Cause.TRUNCATED: "See whether an unclean leader election or a restored backup lost data.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A stretch of a partition that is gone."""

    partition: TopicPartition
    start: int
    end: int | None
    """Not part of it; None where nobody knows how far it went."""
    cause: Cause

    def __str__(self) -> str:
        what = (
            f"from offset {self.start} on"
            if self.end is None
            else f"with offsets {self.start} to {self.end - 1}"
        )
        return f"Records of {self.partition} {what} were gone before they were read: {self.cause}."

    def as_json(self) -> str:
        """One line for programs."""
        return json.dumps(
            {
                "event": "data loss",
                "topic": self.partition.topic,
                "partition": self.partition.partition,
                "start": self.start,
                "end": self.end,
                "cause": self.cause.name.lower(),
            }
        )


class DataLossError(OperatingError):
    """Records are gone, and the options say to fail then."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(
            f"{loss} {_REMEDIES[loss.cause]} To go on without them set onDataLoss=skip, or onDataLoss=report "
            "to have all lost ranges in the log."
        )
        self.loss = loss


def handle_loss(loss: Loss, on_data_loss: OnDataLoss) -> None:
    """Raise, or write it down and go on, as the options say."""
    match on_data_loss:
        case OnDataLoss.FAIL:
            raise DataLossError(loss)
        case OnDataLoss.SKIP:
            _log.warning("%s", loss)
        case OnDataLoss.REPORT:
            _log.warning("%s", loss.as_json())
