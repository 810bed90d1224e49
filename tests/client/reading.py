"""What stands in a topic, read by a consumer without a group."""

import time

from penstock import Consumer, Message


def read_all(
    bootstrap: str, topic: str, count: int, *, partitions: int = 1, **settings: object
) -> list[Message]:
    """So many messages from the beginning, and the proof that there are no more."""
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", **settings) as consumer:  # type: ignore[arg-type]
        consumer.assign([(topic, number) for number in range(partitions)])
        found: list[Message] = []
        deadline = time.monotonic() + 30
        while len(found) < count and time.monotonic() < deadline:
            found += consumer.poll(0.2)
        more = consumer.poll(0.2)
    assert len(found) == count, f"{len(found)} of {count} messages"
    assert not more
    return found


def take(consumer: Consumer, count: int) -> list[Message]:
    """So many messages; one ``poll`` may return fewer than there are."""
    found: list[Message] = []
    deadline = time.monotonic() + 30
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.poll(0.5, count - len(found))
    assert len(found) == count, f"{len(found)} of {count} messages"
    return found


def values(messages: list[Message]) -> list[bytes]:
    return [message.value for message in messages]
