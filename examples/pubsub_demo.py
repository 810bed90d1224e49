"""Publish notifications in real time to subscribers who come and go, and miss nothing.

    python examples/pubsub_demo.py

A subscriber is a consumer group. The broker stores how far each group has read, so a phone that was switched
off gets what it missed, and a newcomer gets everything from the beginning.
"""

import time

import playground

from penstock import Consumer, Message, Producer

LIVE = ("Welcome!", "Maintenance tonight at ten", "Your order has left the house")
MISSED = ("Maintenance begins", "Maintenance is over", "Your order is in town", "New version released")
WAIT_SECONDS = 20.0


def main(place: playground.Playground) -> None:
    """Tell the story of two subscribers."""
    with (
        place.topic("notifications", partitions=2) as topic,
        Producer(bootstrap_servers=place.bootstrap_servers, linger_ms=0, value_serializer="str") as publisher,
    ):
        print("the phone subscribes")
        with subscriber(place, topic, "phone") as phone:
            for text in LIVE:
                publish(publisher, topic, text)
                receive(phone, "phone")

        print("\nthe phone is switched off; its offsets stay on the broker")
        for text in MISSED:
            publish(publisher, topic, text)

        print("\nthe phone is back, and goes on where it stopped")
        with subscriber(place, topic, "phone") as phone:
            caught_up = [receive(phone, "phone").value for _ in MISSED]
            publish(publisher, topic, "You are up to date")
            receive(phone, "phone")
        print(f"the phone missed {len(MISSED)} notifications and got {len(caught_up)} of them later")
        assert sorted(caught_up) == sorted(MISSED)

        print("\na dashboard subscribes for the first time: it is a group of its own and gets everything")
        with subscriber(place, topic, "dashboard") as dashboard:
            total = len([receive(dashboard, "dashboard") for _ in range(len(LIVE) + len(MISSED) + 1)])
        print(f"the dashboard got {total} notifications")


def subscriber(place: playground.Playground, topic: str, name: str) -> Consumer:
    """A consumer that goes on where the group of that name has stopped."""
    consumer = Consumer(
        bootstrap_servers=place.bootstrap_servers,
        group_id=f"{topic}-{name}",
        auto_offset_reset="earliest",
        value_deserializer="str",
    )
    consumer.subscribe(topic)
    return consumer


def publish(publisher: Producer, topic: str, text: str) -> None:
    """Send one notification, and wait until it is on disk."""
    stored = publisher.send(topic, text).result()
    print(f"  published {text!r} (partition {stored.partition}, offset {stored.offset})")


def receive(consumer: Consumer, name: str) -> Message:
    """Wait for the next notification."""
    message = consumer.consume_one(timeout=WAIT_SECONDS)
    if message is None:
        raise SystemExit(f"The {name} got nothing within {WAIT_SECONDS:g} s.")
    age_ms = time.time() * 1000 - message.timestamp_ms
    print(f"  {name} got {message.value!r}, {age_ms:.0f} ms after it was sent")
    return message


if __name__ == "__main__":
    playground.run(main, __doc__)
