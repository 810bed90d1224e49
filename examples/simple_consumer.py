"""Read events as a member of a group, from where the group has stopped the last time.

    python examples/simple_consumer.py
    python examples/simple_consumer.py --bootstrap-server 127.0.0.1:9092

With a cluster that is running it waits for more until Ctrl-C; send some with simple_producer.py. Start it
twice, and the two share the partitions. With a broker of its own it sends ten events itself, reads them and
ends.
"""

from contextlib import suppress

import playground

from penstock import Admin, Consumer, Producer

TOPIC = "events"
GROUP = "simple-consumer"


def main(place: playground.Playground) -> None:
    """Print what comes. What was printed is committed, and not read again by this group."""
    with Admin(bootstrap_servers=place.bootstrap_servers) as admin:
        admin.create_topic(TOPIC, partitions=3, exist_ok=True)
    if place.broker is not None:
        send_some(place.bootstrap_servers)

    count = 0
    with Consumer(
        bootstrap_servers=place.bootstrap_servers,
        group_id=GROUP,
        auto_offset_reset="earliest",  # where a group begins that has never committed anything
        key_deserializer="str",
        value_deserializer="json",
    ) as consumer:
        consumer.subscribe(TOPIC, on_assigned=lambda mine: print(f"{len(mine)} partitions are mine"))
        # Inside of the with block, so that closing commits what was seen.
        with suppress(KeyboardInterrupt):
            for message in consumer.messages(idle_timeout=None if place.broker is None else 1.0):
                count += 1
                print(f"{message.topic}-{message.partition} @{message.offset}: {message.key} {message.value}")
    print(f"{count} events read")


def send_some(bootstrap_servers: str) -> None:
    """Something to read."""
    with Producer(
        bootstrap_servers=bootstrap_servers, key_serializer="str", value_serializer="json"
    ) as producer:
        producer.send_batch((TOPIC, {"number": number}, f"user-{number % 3}") for number in range(10))


if __name__ == "__main__":
    playground.run(main, __doc__)
