from dataclasses import FrozenInstanceError

import pytest

from penstock.wire.messages.fetch import FetchRequest, FetchTopic, ReplicaState
from penstock.wire.messages.produce import ProduceRequest
from penstock.wire.schema import Struct, Versions, parse_versions, replace


@pytest.mark.parametrize(
    ("text", "expected"), [("3+", (3, 0x7FFF)), ("0-12", (0, 12)), ("4", (4, 4)), ("10-14", (10, 14))]
)
def test_versions_are_parsed_with_both_ends(text: str, expected: tuple[int, int]) -> None:
    assert parse_versions(text) == Versions(*expected)


def test_versions_of_empty_text_include_nothing() -> None:
    assert not any(parse_versions("").include(version) for version in range(20))


def test_struct_without_arguments_has_all_defaults() -> None:
    request = FetchRequest()
    assert request.replica_id == -1
    assert request.topics == ()
    assert request.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)


def test_struct_refuses_to_be_changed() -> None:
    request = ProduceRequest(acks=1)
    with pytest.raises(FrozenInstanceError, match="acks"):
        request.acks = 0  # type: ignore[misc]  # what mypy forbids must fail at run time too
    with pytest.raises(FrozenInstanceError, match="acks"):
        del request.acks
    assert request.acks == 1


def test_struct_has_no_room_for_other_attributes() -> None:
    assert not hasattr(ProduceRequest(), "__dict__")


def test_struct_refuses_unknown_and_positional_arguments() -> None:
    with pytest.raises(TypeError):
        ProduceRequest(ack=1)  # type: ignore[call-arg]  # the mistake under test
    with pytest.raises(TypeError):
        ProduceRequest(1)  # type: ignore[arg-type, call-arg]  # the mistake under test


def test_structs_are_equal_by_class_and_values() -> None:
    assert FetchTopic(topic="a") == FetchTopic(topic="a")
    assert hash(FetchTopic(topic="a")) == hash(FetchTopic(topic="a"))
    assert FetchTopic(topic="a") != FetchTopic(topic="b")
    assert FetchTopic() != ReplicaState()


def test_struct_shows_its_fields() -> None:
    assert repr(ReplicaState(replica_id=3)) == "ReplicaState(replica_id=3, replica_epoch=-1)"


def test_replace_changes_only_what_it_is_told() -> None:
    original = FetchTopic(topic="a")
    assert replace(original, topic="b") == FetchTopic(topic="b")
    assert original.topic == "a"


def test_struct_without_fields_can_be_made() -> None:
    class Empty(Struct):
        """Nothing in it."""

    assert Empty() == Empty()
