"""Errors in their place: every API, every version, made from a request and readable by the schema."""

from typing import Any

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import UsageError
from penstock.testing.api_names import find_api, find_error
from penstock.testing.error_answers import ERROR_FIELDS, check_expressible, error_answer
from penstock.wire.api_keys import APIS, ApiKey, ApiSpec
from penstock.wire.framing import decode_response, encode_response
from penstock.wire.primitives import Kind
from penstock.wire.schema import Struct

LENGTH_BYTES = 4
CLIENT_APIS = [spec for spec in APIS.values() if not spec.is_private]

WITHOUT_A_PLACE = {("DescribeLogDirs", 1), ("DescribeLogDirs", 2)}
"""Below version 3 errors belong to directories, which no request names."""

VERSIONS = [
    (spec, version)
    for spec in CLIENT_APIS
    for version in range(spec.min_version, spec.max_version + 1)
    if (spec.name, version) not in WITHOUT_A_PLACE
]


def sample(struct: type[Struct], version: int) -> Struct:
    """A message in which every array has one element and every name is a name."""
    values: dict[str, Any] = {}
    for name, field in struct.fields.items():
        if not field.versions.include(version):
            continue
        if isinstance(field.kind, Kind):
            value: Any = f"a-{name}" if field.kind.name == "string" else field.kind.default
            if name in ("partition_index", "partition", "index", "partition_indexes", "partitions"):
                value = 7
        else:
            value = sample(field.kind, version)
        values[name] = (value,) if field.is_array else value
    return struct(**values)


def structs_in(message: Struct) -> list[Struct]:
    found = [message]
    for name, field in type(message).fields.items():
        value = getattr(message, name)
        children = value if field.is_array else (value,)
        for child in children or ():
            if isinstance(child, Struct):
                found += structs_in(child)
    return found


def errors_in(message: Struct) -> list[int]:
    codes = [
        getattr(struct, name)
        for struct in structs_in(message)
        for name in ERROR_FIELDS
        if name in type(struct).fields
    ]
    return [code for code in codes if code]


def answer_to(spec: ApiSpec, version: int, request: Struct, error: ErrorCode) -> Any:
    """As a client reads it."""
    answer = error_answer(spec, version, request, error)
    assert answer is not None
    frame = encode_response(spec.key, version, 5, answer)[LENGTH_BYTES:]
    correlation_id, message = decode_response(spec.key, version, frame)
    assert correlation_id == 5
    return message


@pytest.mark.parametrize(("spec", "version"), VERSIONS, ids=lambda value: getattr(value, "name", str(value)))
def test_answer_of_any_version_holds_the_error_once_for_each_entry(spec: ApiSpec, version: int) -> None:
    error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    message = answer_to(spec, version, sample(spec.request, version), error)
    assert errors_in(message) == [error]


@pytest.mark.parametrize("version", [version for spec, version in VERSIONS if spec.key == ApiKey.PRODUCE])
def test_produce_answer_names_every_partition_of_the_request(version: int) -> None:
    spec = APIS[ApiKey.PRODUCE]
    request: Any = sample(spec.request, version)
    message = answer_to(spec, version, request, ErrorCode.NOT_ENOUGH_REPLICAS)
    (topic,) = message.responses
    assert (topic.name, topic.topic_id) == (request.topic_data[0].name, request.topic_data[0].topic_id)
    (partition,) = topic.partition_responses
    assert (partition.index, partition.base_offset) == (7, -1)


def test_fetch_error_stands_at_the_partition_and_a_session_error_above_all() -> None:
    spec = APIS[ApiKey.FETCH]
    request = sample(spec.request, 12)
    message = answer_to(spec, 12, request, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert message.error_code == 0
    assert message.responses[0].topic == "a-topic"
    assert message.responses[0].partitions[0].partition_index == 7
    assert message.responses[0].partitions[0].high_watermark == -1
    message = answer_to(spec, 12, request, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert (message.error_code, message.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ())


def test_fetch_session_error_has_no_place_before_there_were_sessions() -> None:
    spec = APIS[ApiKey.FETCH]
    request = sample(spec.request, 4)
    assert error_answer(spec, 4, request, ErrorCode.FETCH_SESSION_ID_NOT_FOUND) is None


@pytest.mark.parametrize(("version", "is_outside"), [(1, False), (2, True), (7, True), (8, False)])
def test_offset_fetch_error_stands_as_far_out_as_the_version_allows(version: int, is_outside: bool) -> None:
    spec = APIS[ApiKey.OFFSET_FETCH]
    message = answer_to(spec, version, sample(spec.request, version), ErrorCode.NOT_COORDINATOR)
    assert (message.error_code == ErrorCode.NOT_COORDINATOR) is is_outside
    if version >= 8:
        assert message.groups[0].group_id == "a-group_id"
        assert message.groups[0].error_code == ErrorCode.NOT_COORDINATOR
    elif not is_outside:
        assert message.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


def test_find_coordinator_error_repeats_every_key() -> None:
    spec = APIS[ApiKey.FIND_COORDINATOR]
    request = spec.request(coordinator_keys=("billing", "orders"))
    message = answer_to(spec, 4, request, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    assert [each.key for each in message.coordinators] == ["billing", "orders"]


def test_error_of_all_partitions_of_a_topic_is_told_for_each() -> None:
    spec = APIS[ApiKey.LIST_OFFSETS]
    request: Any = sample(spec.request, 6)
    topic = type(request.topics[0])(name="orders", partitions=request.topics[0].partitions * 3)
    message = answer_to(spec, 6, spec.request(topics=(topic,)), ErrorCode.LEADER_NOT_AVAILABLE)
    assert errors_in(message) == [ErrorCode.LEADER_NOT_AVAILABLE] * 3


def test_unknown_api_and_error_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean Produce"):
        find_api("Prodcue")
    with pytest.raises(UsageError, match="did you mean NOT_LEADER_OR_FOLLOWER"):
        find_error("NOT_LEADER_FOLLOWER")
    with pytest.raises(UsageError, match="NONE is no error"):
        find_error("NONE")
    with pytest.raises(UsageError, match="no API"):
        find_api("RaftVote")


def test_error_without_any_place_is_refused_before_it_could_strike() -> None:
    with pytest.raises(UsageError, match="DescribeLogDirs"):
        check_expressible(_only_old_log_dirs(), ErrorCode.NOT_CONTROLLER)


def _only_old_log_dirs() -> ApiSpec:
    spec = APIS[ApiKey.DESCRIBE_LOG_DIRS]
    return ApiSpec(
        key=spec.key,
        name=spec.name,
        min_version=1,
        max_version=2,
        first_flexible=spec.first_flexible,
        advertised_min=1,
        is_served=True,
        is_private=False,
    )
