"""DeleteTopics: by name, or since version 6 by id."""

from collections.abc import Iterable

from penstock.config.broker_config import BrokerConfig
from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import duplicates, invalid_request, message_of
from penstock.metadata.records import RemoveTopicRecord
from penstock.metadata.result import Result
from penstock.metadata.topic_image import TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

DELETION_DISABLED_SINCE_VERSION = 3
"""Older clients do not know the error code that says deletion is switched off."""


def delete_topics(
    image: ClusterImage, request: DeleteTopicsRequest, *, version: int, config: BrokerConfig
) -> Result[DeleteTopicsResponse]:
    """Decide on the topics of a request, each by itself."""
    wanted = request.topics + tuple(DeleteTopicState(name=name) for name in request.topic_names)
    if not config.boolean("delete.topic.enable"):
        return Result(records=(), response=_answer(_refusal(each, _disabled(version)) for each in wanted))
    found = {each: _find(image, each) for each in wanted}
    repeated = duplicates(wanted)
    topics = [topic.topic_id for topic in found.values() if isinstance(topic, TopicImage)]
    twice = duplicates(topics)
    results: dict[DeleteTopicState, DeletableTopicResult] = {}
    records: list[RemoveTopicRecord] = []
    for each, topic in found.items():
        if each in repeated:
            results[each] = _refusal(each, _repeated(each))
        elif isinstance(topic, ApiError):
            results[each] = _refusal(each, topic)
        elif topic.topic_id in twice:
            results[each] = _refusal(
                each, invalid_request("The provided topic name maps to an ID that was already supplied.")
            )
        else:
            records.append(RemoveTopicRecord(topic_id=topic.topic_id))
            results[each] = DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)
    return Result(records=tuple(records), response=_answer(results.values()))


def _find(image: ClusterImage, wanted: DeleteTopicState) -> TopicImage | ApiError:
    has_id = wanted.topic_id != ZERO_TOPIC_ID
    if wanted.name is None and not has_id:
        return invalid_request("Neither topic name nor id were specified.")
    if wanted.name is not None and has_id:
        return invalid_request("You may not specify both topic name and topic id.")
    if wanted.name is None:
        return image.topics_by_id.get(wanted.topic_id) or ApiError(
            ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID."
        )
    return image.topics.get(wanted.name) or ApiError(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
    )


def _repeated(wanted: DeleteTopicState) -> ApiError:
    return invalid_request("Duplicate topic name." if wanted.name is not None else "Duplicate topic id.")


def _disabled(version: int) -> ApiError:
    if version < DELETION_DISABLED_SINCE_VERSION:
        return invalid_request("Topic deletion is disabled.")
    return ApiError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")


def _refusal(wanted: DeleteTopicState, error: ApiError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=wanted.name,
        topic_id=TopicId(wanted.topic_id),
        error_code=error.code,
        error_message=message_of(error),
    )


def _answer(results: Iterable[DeletableTopicResult]) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(responses=tuple(results))
