"""What is committed, and what is not."""

import time
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill, grouped
from tests.client.consuming.test_rebalancing import PROTOCOLS
from tests.client.reading import take
from tests.conftest import UniqueName

from penstock import Admin, Consumer, Message
from penstock.client.errors import ConfigurationError


def wait_committed(consumer: Consumer, offsets: dict[tuple[str, int], int]) -> None:
    wait_until(lambda: consumer.committed() == offsets, what="a commit")


def test_commit_of_all_that_was_seen_one_message_or_offsets(
    broker: str, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 20)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.committed() == {(topic, 0): None}
        messages = take(consumer, 8)
        consumer.commit()
        assert consumer.committed() == {(topic, 0): 8}
        consumer.commit(messages[2])
        assert consumer.committed() == {(topic, 0): 3}
        consumer.commit({(topic, 0): 17})
        assert consumer.committed([(topic, 0)]) == {(topic, 0): 17}
        with pytest.raises(ConfigurationError, match="Cannot commit 5"):
            consumer.commit(5)  # type: ignore[arg-type]
        consumer.commit({(topic, 0): 4}, asynchronous=True)
        wait_until(lambda: consumer.committed() == {(topic, 0): 4}, what="the commit")


def test_commit_before_anything_was_seen_commits_nothing(broker: str, topic: str, unique: UniqueName) -> None:
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign([(topic, 0)])
        consumer.commit()
        assert consumer.committed() == {(topic, 0): None}


def test_iteration_commits_only_what_was_handed_over(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 50)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign([(topic, 0)])
        for message in consumer:
            if message.offset == 6:
                break
        consumer.commit()
        assert consumer.committed() == {(topic, 0): 7}
        assert consumer.position() == {(topic, 0): 7}


def test_automatic_commit_is_behind_the_caller_and_never_ahead(
    broker: str, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 30)
    with grouped(broker, unique("group"), auto_commit_interval_ms=20) as consumer:
        consumer.assign([(topic, 0)])
        take(consumer, 10)
        for _ in range(10):  # Many intervals; but nobody has asked for more.
            assert consumer.committed() == {(topic, 0): None}
        take(consumer, 10)
        wait_until(lambda: consumer.committed() == {(topic, 0): 10}, what="the first ten")
        for message in consumer:
            assert message.offset == 20
            break
        assert (consumer.committed()[consumer.assignment()[0]] or 0) <= 20


def test_slow_iteration_is_committed_as_it_goes(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 30)
    with grouped(broker, unique("group"), auto_commit_interval_ms=20) as consumer:
        consumer.assign([(topic, 0)])
        for message in consumer:
            time.sleep(0.02)  # The caller takes its time: that is the situation.
            if message.offset == 20:
                # The message at hand is not dealt with yet; those before it are, and get committed.
                wait_committed(consumer, {(topic, 0): 20})
                break


@pytest.mark.parametrize(("raises", "committed"), [(False, 10), (True, None)])
@pytest.mark.parametrize("protocol", [None, *PROTOCOLS], ids=lambda each: "-".join((each or {}).values()))
def test_closing_commits_what_was_seen_unless_something_was_raised(
    broker: str,
    admin: Admin,
    topic: str,
    unique: UniqueName,
    protocol: dict[str, str] | None,
    raises: bool,
    committed: int | None,
) -> None:
    fill(broker, topic, 30)
    group = unique("group")
    try:
        with grouped(broker, group, **(protocol or {})) as consumer:
            if protocol is None:
                consumer.assign([(topic, 0)])
            else:
                consumer.subscribe(topic)
            take(consumer, 10)
            if raises:
                raise ZeroDivisionError
    except ZeroDivisionError:
        assert raises
    assert admin.group_offsets(group).get((topic, 0)) == committed  # type: ignore[call-overload]


def test_callback_that_raises_leaves_its_message_to_be_read_again(
    broker: str, admin: Admin, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 30)
    group = unique("group")

    def handle(message: Message) -> None:
        if message.offset == 0:
            raise ZeroDivisionError

    def run() -> None:
        with grouped(broker, group) as consumer:
            consumer.subscribe(topic)
            consumer.start_consuming(handle)

    with pytest.raises(ZeroDivisionError):
        run()
    assert not admin.group_offsets(group)


def test_next_member_goes_on_where_the_last_one_was(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, group = make_topic(3), unique("group")
    for partition in range(3):
        fill(broker, topic, 20, partition=partition, first=100 * partition)
    seen: list[Any] = []
    while len(seen) < 60:
        with grouped(broker, group) as consumer:
            consumer.subscribe(topic)
            for message in consumer:
                seen.append(message.value)
                if len(seen) % 7 == 0 or len(seen) == 60:
                    break
    assert sorted(map(int, seen)) == [*range(20), *range(100, 120), *range(200, 220)]
