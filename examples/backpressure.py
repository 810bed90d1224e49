"""What to do when one side is faster than the other: bounded buffers, and saying stop.

    python examples/backpressure.py

A producer's buffer is bounded: when it is full, ``send`` either refuses or waits, as you choose. A consumer
whose worker cannot keep up pauses its partitions and goes on polling, so that its group knows it is alive.
"""

import queue
import threading
import time

import playground

from penstock import Consumer, Message, Producer
from penstock.client.errors import BufferFull

BUFFER_RECORDS = 100
RECORDS = 300
QUEUE_SIZE = 50
AT_A_TIME = 10
WORK_SECONDS = 0.002


def main(place: playground.Playground) -> None:
    """Fill a producer's buffer in both ways, then read with a slow worker."""
    with place.topic("jobs") as topic:
        refuse_when_full(place, topic)
        wait_when_full(place, topic)
        consume_slowly(place, topic)


def refuse_when_full(place: playground.Playground, topic: str) -> None:
    """With ``block_when_full=False`` the caller decides what to do when there is no room."""
    with Producer(
        bootstrap_servers=place.bootstrap_servers,
        buffer_records=BUFFER_RECORDS,
        block_when_full=False,
        linger_ms=1_000,  # batches wait for more, so that the buffer fills up
    ) as producer:
        taken = 0
        try:
            while True:
                producer.send(topic, b"job %d" % taken)
                taken += 1
        except BufferFull as error:
            print(f"refused after {taken} records: {type(error).__name__}")
        producer.flush()
        producer.send(topic, b"job %d" % taken)
        print("after flush() there is room again")


def wait_when_full(place: playground.Playground, topic: str) -> None:
    """By default ``send`` waits for room, up to ``max_block_ms``: the producer is as fast as the broker."""
    most = 0
    with Producer(
        bootstrap_servers=place.bootstrap_servers, buffer_records=BUFFER_RECORDS, linger_ms=5
    ) as producer:
        for number in range(BUFFER_RECORDS + 1, RECORDS):
            producer.send(topic, b"job %d" % number)
            most = max(most, producer.metrics().records_waiting)
    print(f"{RECORDS - BUFFER_RECORDS - 1} more records sent, never more than {most} waiting in the buffer")


def consume_slowly(place: playground.Playground, topic: str) -> None:
    """Hand messages to a slow worker through a small queue, and pause while it is full."""
    jobs: queue.Queue[Message | None] = queue.Queue(QUEUE_SIZE)
    done: list[bytes] = []
    worker = threading.Thread(target=work, args=(jobs, done))
    worker.start()
    read = pauses = longest = 0
    is_paused = False
    with Consumer(
        bootstrap_servers=place.bootstrap_servers, group_id=f"{topic}-workers", auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe(topic)
        try:
            while read < RECORDS:
                if not is_paused and jobs.qsize() > QUEUE_SIZE - AT_A_TIME:
                    consumer.pause()
                    is_paused, pauses = True, pauses + 1
                elif is_paused and jobs.qsize() < QUEUE_SIZE // 2:
                    consumer.resume()
                    is_paused = False
                # Also while paused: it returns nothing then, and keeps the consumer in its group.
                for message in consumer.poll(0.02, max_records=AT_A_TIME):
                    jobs.put(message)
                    read += 1
                longest = max(longest, jobs.qsize())
        finally:
            jobs.put(None)
            worker.join()
    in_order = done == [b"job %d" % number for number in range(RECORDS)]
    print(f"the consumer paused {pauses} times; the queue of {QUEUE_SIZE} had {longest} at most")
    print(f"{len(done)} jobs done, all of them once and in order: {'yes' if in_order else 'NO'}")


def work(jobs: "queue.Queue[Message | None]", done: list[bytes]) -> None:
    """Slower than any broker."""
    while (message := jobs.get()) is not None:
        time.sleep(WORK_SECONDS)
        done.append(message.value)


if __name__ == "__main__":
    playground.run(main, __doc__)
