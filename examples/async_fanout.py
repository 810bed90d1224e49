"""One producer, three independent groups, one event loop: each group gets everything.

    python examples/async_fanout.py

Groups know nothing of each other: every one has offsets of its own. Inside a group members share the work;
shipping has two.
"""

import asyncio

import playground

from penstock import AsyncAdmin, AsyncConsumer, AsyncProducer

EVENTS = 2_000
GROUPS = {"billing": 1, "shipping": 2, "analytics": 1}
WAIT_SECONDS = 30.0

Seen = dict[str, set[int]]
"""The events that each group has got."""


async def fan_out(bootstrap_servers: str, topic: str) -> Seen:
    """Run producer and consumers together; what each group got."""
    seen: Seen = {group: set() for group in GROUPS}
    async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
        for group, members in GROUPS.items():
            for number in range(members):
                tasks.create_task(
                    consume(bootstrap_servers, topic, group, seen[group]), name=f"{group}-{number}"
                )
        tasks.create_task(produce(bootstrap_servers, topic), name="producer")
    return seen


async def produce(bootstrap_servers: str, topic: str) -> None:
    """Send events; awaiting a send waits for its acknowledgement, so await them together."""
    async with AsyncProducer(bootstrap_servers=bootstrap_servers, value_serializer="json") as producer:
        deliveries = [producer.send(topic, {"event": number}) for number in range(EVENTS)]
        stored = await asyncio.gather(*deliveries)
    print(f"{len(stored)} events acknowledged in {len({each.partition for each in stored})} partitions")


async def consume(bootstrap_servers: str, topic: str, group: str, seen: set[int]) -> None:
    """Take events until the whole group has had all of them."""
    async with AsyncConsumer(
        bootstrap_servers=bootstrap_servers,
        group_id=f"{topic}-{group}",
        auto_offset_reset="earliest",
        value_deserializer="json",
    ) as consumer:
        await consumer.subscribe(topic)
        while len(seen) < EVENTS:
            seen.update(message.value["event"] for message in await consumer.poll(0.2))


async def committed(bootstrap_servers: str, topic: str, group: str) -> int:
    """Up to where a group has committed, all partitions together."""
    async with AsyncAdmin(bootstrap_servers=bootstrap_servers) as admin:
        return sum((await admin.group_offsets(f"{topic}-{group}")).values())


async def report(bootstrap_servers: str, topic: str, seen: Seen) -> None:
    """Each group by itself."""
    for group, members in GROUPS.items():
        stored = await committed(bootstrap_servers, topic, group)
        print(f"{group} ({members} members) got {len(seen[group])} events and committed {stored}")


async def story(bootstrap_servers: str, topic: str) -> None:
    """All of it."""
    await report(bootstrap_servers, topic, await fan_out(bootstrap_servers, topic))


def main(place: playground.Playground) -> None:
    """Make the topic, and run the loop."""
    with place.topic("events", partitions=4) as topic:
        asyncio.run(story(place.bootstrap_servers, topic))


if __name__ == "__main__":
    playground.run(main, __doc__)
