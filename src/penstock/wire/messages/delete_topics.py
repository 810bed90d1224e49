"""DeleteTopics (key 20): topics and all their records go.

Version notes: 4 flexible; 5 error messages; 6 a topic by name or by id.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable


class DeleteTopicState(Struct):
    """A topic to delete: its name, or if that is null its id."""

    name: str | None = nullable(STRING)
    topic_id: TopicId = field(TOPIC_ID)


class DeleteTopicsRequest(Struct):
    """Delete these; ``topic_names`` until version 5, ``topics`` since."""

    topics: tuple[DeleteTopicState, ...] = array(DeleteTopicState, "6+")
    topic_names: tuple[str, ...] = array(STRING, "0-5")
    timeout_ms: int = field(INT32)


class DeletableTopicResult(Struct):
    """The outcome for one topic."""

    name: str | None = nullable(STRING, nulls="6+", default="")
    topic_id: TopicId = field(TOPIC_ID, "6+")
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING, "5+")


class DeleteTopicsResponse(Struct):
    """The outcome for every topic."""

    throttle_time_ms: int = field(INT32, "1+")
    responses: tuple[DeletableTopicResult, ...] = array(DeletableTopicResult)
