"""Sending records, and knowing of each how it fared.

Reports come while the next line is still awaited: a thread of its own serves them, and wakes the reader when
one of them is bad, unless it was told to go on. If nobody can be told any more where records go, as when the
reader of a pipe has left, reading ends too, but what was read is still delivered, as after Ctrl-C.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.cli.librdkafka import failure
from penstock.cli.output import discard_output, print_json_line
from penstock.cli.produce.line_record import LineRecord

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_POLL_SECONDS = 0.1
"""How long one wait for deliveries lasts, so that the end and Ctrl-C are noticed."""


class RecordSender:
    """Sends records to one topic; stops at the first that could not be delivered, or counts those."""

    def __init__(self, producer: "Producer", topic: str, *, keep_going: bool, as_json: bool) -> None:
        self._producer = producer
        self._topic = topic
        self._keep_going = keep_going
        self._as_json = as_json
        self._problem: KafkaError | None = None
        #: Why standard output takes nothing more.
        self._output_problem: OSError | None = None
        self._ending = threading.Lock()
        self._is_ended = threading.Event()
        self._reporter = threading.Thread(target=self._report, name="delivery reports", daemon=True)
        #: Read, whatever became of them.
        self.sent_count = 0
        self.delivered_count = 0
        self.delivered_bytes = 0
        """Of keys and values."""

    def send_all(self, records: Iterator[LineRecord]) -> None:
        """Send everything, or up to the first failure."""
        self._reporter.start()
        try:
            for record in records:
                self._send(record)
                if self._must_stop_reading():
                    return
        finally:
            # Under the lock: an interrupt of the reporter's arrives before this line or not at all.
            with self._ending:
                self._is_ended.set()

    def finish(self) -> None:
        """Wait until every record has its answer."""
        self._is_ended.set()
        if self._reporter.ident is not None:  # An interrupt may have come before anything began.
            self._reporter.join()
        while self._producer.flush(_POLL_SECONDS) and not self._must_give_up():
            pass
        if self._must_give_up():
            self._producer.purge()
            self._producer.poll(0)
        if self._as_json:
            self._tell(sys.stdout.flush)

    def complaint(self) -> CommandFailed | None:
        """What there is to say if not everything was delivered, or not all of it told."""
        if self._problem is not None:
            lost = self.sent_count - self.delivered_count
            return failure(
                self._problem, doing=f"produce {lost} of {self.sent_count} records to topic {self._topic!r}"
            )
        if self._output_problem is not None:
            reason = (self._output_problem.strerror or str(self._output_problem)).lower()
            return CommandFailed(
                f"Cannot say where records of topic {self._topic!r} went: {reason}. "
                f"{self.delivered_count} of {self.sent_count} were delivered."
            )
        return None

    def _must_stop_reading(self) -> bool:
        return self._must_give_up() or self._output_problem is not None

    def _must_give_up(self) -> bool:
        return self._problem is not None and not self._keep_going

    def _report(self) -> None:
        while not self._is_ended.is_set():
            if self._producer.poll(_POLL_SECONDS) and self._as_json:
                self._tell(sys.stdout.flush)
            if self._must_stop_reading():
                self._stop_reading()
                return

    def _stop_reading(self) -> None:
        """Do as Ctrl-C does: a blocking read of standard input ends by nothing else."""
        with self._ending:
            main_thread = threading.main_thread().ident
            if not self._is_ended.is_set() and main_thread is not None:
                signal.pthread_kill(main_thread, signal.SIGINT)

    def _send(self, record: LineRecord) -> None:
        from confluent_kafka import KafkaException

        self.sent_count += 1
        while not self._must_stop_reading():
            try:
                self._hand_over(record)
            except BufferError:
                # librdkafka's queue is full: deliveries make room, as long as somebody serves their reports.
                time.sleep(_POLL_SECONDS)
            except KafkaException as error:
                self._problem = self._problem or error.args[0]
                return
            else:
                return

    def _hand_over(self, record: LineRecord) -> None:
        timed = {} if record.timestamp_ms is None else {"timestamp": record.timestamp_ms}
        self._producer.produce(
            self._topic,
            record.value,
            record.key,
            record.partition,
            on_delivery=self._on_delivery,
            headers=list(record.headers),
            **timed,
        )

    def _on_delivery(self, problem: "KafkaError | None", message: "Message") -> None:
        if problem is not None:
            self._problem = self._problem or problem
            return
        self.delivered_count += 1
        self.delivered_bytes += len(message.key() or b"") + len(message.value() or b"")
        if self._as_json:
            place = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
            self._tell(partial(print_json_line, place))

    def _tell(self, write: Callable[[], None]) -> None:
        """An error must not leave a report of librdkafka's: it would end the thread that serves them."""
        try:
            write()
        except OSError as error:
            self._output_problem = self._output_problem or error
            discard_output()
