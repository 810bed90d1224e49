"""What a checkpoint holds: the connector's layout, with topic ids and the group beside it."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.offsets.stream_offset import StreamOffset, parse_stream_offset

TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=8)
OFFSETS = st.builds(
    StreamOffset,
    offsets=st.dictionaries(
        st.builds(TopicPartition, TOPICS, st.integers(0, 2000)), st.integers(0, 2**62), max_size=8
    ),
    topic_ids=st.dictionaries(TOPICS, st.text("abcXYZ_-", min_size=22, max_size=22), max_size=3),
    group_id=st.none() | st.text("abc -", min_size=1).filter(lambda text: text.strip() == text),
)


@given(OFFSETS)
def test_offset_is_what_it_was_after_a_way_through_the_checkpoint(offset: StreamOffset) -> None:
    assert parse_stream_offset(json.loads(json.dumps(offset.as_json()))) == offset


@given(OFFSETS, st.randoms())
def test_equal_offsets_are_equal_texts(offset: StreamOffset, random: Random) -> None:
    items = list(offset.offsets.items())
    random.shuffle(items)
    again = StreamOffset(offsets=dict(items), topic_ids=offset.topic_ids, group_id=offset.group_id)

    assert json.dumps(again.as_json()) == json.dumps(offset.as_json())


@given(OFFSETS)
def test_connector_sees_only_topics_with_partitions_and_offsets(offset: StreamOffset) -> None:
    """It reads the text as a map of maps from numbers to numbers, and forgets keys whose map is empty."""
    as_connector = {
        TopicPartition(topic, int(number)): int(position)
        for topic, partitions in offset.as_json().items()
        for number, position in partitions.items()
    }
    assert as_connector == offset.offsets


def test_partitions_stand_in_the_order_of_their_numbers() -> None:
    offset = StreamOffset(offsets={TopicPartition("orders", number): number for number in (10, 9, 1)})

    assert json.dumps(offset.as_json()) == '{"orders": {"1": 1, "9": 9, "10": 10}}'
    assert offset.topics == {"orders"}


def test_checkpoint_of_the_connector_is_read() -> None:
    parsed = parse_stream_offset({"orders": {"0": 23, "1": 42}})

    assert parsed == StreamOffset(offsets={TopicPartition("orders", 0): 23, TopicPartition("orders", 1): 42})


def test_checkpoint_of_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match="not one of this data source"):
        parse_stream_offset({"logOffset": 7})
