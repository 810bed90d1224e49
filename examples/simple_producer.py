"""Send ten events and see where each of them is stored.

    python examples/simple_producer.py
    python examples/simple_producer.py --bootstrap-server 127.0.0.1:9092

Records with the same key go to the same partition, in the order in which they are sent.
"""

import playground

from penstock import Admin, Producer

TOPIC = "events"
USERS = ("ada", "grace", "edsger")


def main(place: playground.Playground) -> None:
    """Create the topic unless it is there, send, and wait for every acknowledgement."""
    with Admin(bootstrap_servers=place.bootstrap_servers) as admin:
        admin.create_topic(TOPIC, partitions=3, exist_ok=True)

    with Producer(
        bootstrap_servers=place.bootstrap_servers, key_serializer="str", value_serializer="json"
    ) as producer:
        # send() returns at once, with a future. Records travel in batches, and nobody waits for each of them.
        deliveries = [
            producer.send(TOPIC, {"number": number, "action": "login"}, key=USERS[number % len(USERS)])
            for number in range(10)
        ]
        for number, delivery in enumerate(deliveries):
            stored = delivery.result()  # raises if the record was not acknowledged
            print(f"event {number} is on disk: partition {stored.partition}, offset {stored.offset}")
    print(f"{len(deliveries)} events acknowledged")


if __name__ == "__main__":
    playground.run(main, __doc__)
