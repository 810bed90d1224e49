"""Plays scenario files: stories about producers and a coordinator, with everything that follows written out.

A file is prose after ``#``, commands after ``>``, and below each command what it led to: answers, records in
the log, orders for markers. A producer has the name it is first mentioned by and remembers the identity it
was last told; ``as 0/3`` lets it use another, as a late copy of a request would, and ``| answer lost`` keeps
it from hearing the answer.

    > P1 speaks TV2                     the second protocol, from now on
    > P1 inits                          InitProducerId without an identity
    > P1 renews                         InitProducerId with its identity (KIP-360)
    > P1 adds orders-0 payments-1       AddPartitionsToTxn, by itself or (TV2) by the leaders
    > P1 adds offsets of readers        AddOffsetsToTxn
    > P1 has verified orders-0          a leader asks before it appends (KIP-890)
    > P1 commits                        EndTxn
    > P1 aborts
    > markers are written               on all partitions that are waiting
    > markers are written on orders-0   on one of them
    > old reports come again            reports of markers that were delivered before
    > 60 s pass
    > the disk holds back               nothing is committed until it catches up
    > the disk catches up
    > the coordinator restarts          what was not committed is lost
    > P1 has used up its epochs         up to the last that a producer gets
"""

from pathlib import Path

from tests.transactions.coordinator_driver import (
    Coordinator,
    Identity,
    add_request,
    end_request,
    errors_of,
    init_request,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.metadata import PRODUCER_EPOCH_MAX, TransactionMetadata
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from penstock.wire.messages.end_txn import EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdResponse
from penstock.wire.schema import Struct

NAME = "app"
NOBODY = (-1, -1)


def play(text: str) -> str:
    """The text with what its commands lead to; equal to the text if the story is told right."""
    story = Story()
    told: list[str] = []
    for line in text.splitlines():
        if line.startswith(">"):
            told += [line, *story.play(line.removeprefix(">").strip())]
        elif line.startswith("#") or not line:
            told.append(line)
    return "\n".join(told) + "\n"


class Story:
    """One coordinator, and the producers that were mentioned."""

    def __init__(self) -> None:
        self.coordinator = Coordinator()
        self.identities: dict[str, Identity] = {}
        self.protocols: dict[str, int] = {}
        #: Who waits for the answer to which token; none for an answer that is lost.
        self.waiting: dict[int, str | None] = {}
        self.reported: list[WriteMarkers] = []

    def play(self, command: str) -> list[str]:
        log_end, orders = len(self.coordinator.log), list(self.coordinator.orders)
        self._carry_out(command)
        records = [f"  log    {_describe(value)}" for value in self.coordinator.values(start=log_end)]
        new_orders = [order for order in self.coordinator.orders if order not in orders]
        return [*records, *self._answers(), *(f"  order  {_describe_order(order)}" for order in new_orders)]

    def _carry_out(self, command: str) -> None:
        coordinator = self.coordinator
        match command.split():
            case ["markers", "are", "written"]:
                self.reported += coordinator.write_markers()
            case ["markers", "are", "written", "on", *names]:
                for order in list(coordinator.orders):
                    coordinator.report(order, [_partition(name) for name in names])
            case ["old", "reports", "come", "again"]:
                for order in self.reported:
                    coordinator.report(order)
            case [seconds, "s", "pass"]:
                coordinator.pass_time(int(seconds) * 1_000)
            case ["the", "disk", "holds", "back"]:
                coordinator.is_committing = False
            case ["the", "disk", "catches", "up"]:
                coordinator.is_committing = True
                coordinator.commit()
            case ["the", "coordinator", "restarts"]:
                coordinator.restart()
                coordinator.is_committing = True
                self.waiting.clear()
            case [producer, *words]:
                self._producer_does(producer, words)

    def _producer_does(self, producer: str, words: list[str]) -> None:
        is_lost = words[-3:] == ["|", "answer", "lost"]
        words = words[:-3] if is_lost else words
        identity = self.identities.get(producer, NOBODY)
        if words[-2:-1] == ["as"]:
            first, _, second = words[-1].partition("/")
            identity, words = (int(first), int(second)), words[:-2]
        is_second = self.protocols.get(producer, 1) == 2
        match words:
            case ["speaks", protocol]:
                self.protocols[producer] = int(protocol.removeprefix("TV"))
                return
            case ["has", "used", "up", "its", "epochs"]:
                self.identities[producer] = self.coordinator.raise_epoch_to(PRODUCER_EPOCH_MAX)
                return
            case _:
                request, version = _request(words, identity, is_second)
        token = self.coordinator.submit(request, version)
        self.waiting[token] = None if is_lost else producer

    def _answers(self) -> list[str]:
        lines = []
        for token in sorted(self.coordinator.replies):
            producer = self.waiting.pop(token, None)
            response = self.coordinator.replies.pop(token)
            told, identity = _read(response)
            if producer is not None and identity is not None:
                self.identities[producer] = identity
            lines.append(f"  answer {told}" if producer else f"  lost   {told}")
        return lines


def _request(words: list[str], identity: Identity, is_second: bool) -> tuple[Struct, int]:
    match words:
        case ["inits"]:
            return init_request(), 5
        case ["renews"]:
            return init_request(identity), 5
        case ["adds", "offsets", "of", group]:
            producer_id, epoch = identity
            request = AddOffsetsToTxnRequest(
                transactional_id=NAME, producer_id=producer_id, producer_epoch=epoch, group_id=group
            )
            return request, 4
        case ["adds", *names]:
            version = 5 if is_second else 3
            return add_request(identity, [_partition(name) for name in names], version=version), version
        case ["has", "verified", *names]:
            partitions = [_partition(name) for name in names]
            return add_request(identity, partitions, version=5, verify_only=True), 5
        case ["commits" | "aborts" as verb]:
            return end_request(identity, verb == "commits"), 5 if is_second else 4
        case _:
            raise AssertionError(f"nobody can {' '.join(words)!r}")


def _read(response: Struct) -> tuple[str, Identity | None]:
    """An answer in words, and the identity it tells, if any."""
    match response:
        case InitProducerIdResponse() | EndTxnResponse():
            code = ErrorCode(response.error_code)
            if code is not ErrorCode.NONE:
                return code.name, None
            identity = (response.producer_id, response.producer_epoch)
            return ("OK", None) if identity == NOBODY else (f"you are {identity[0]}/{identity[1]}", identity)
        case AddPartitionsToTxnResponse():
            codes = errors_of(response)
            return ", ".join(f"{partition} {_word(code)}" for partition, code in sorted(codes.items())), None
        case AddOffsetsToTxnResponse():
            return _word(ErrorCode(response.error_code)), None
        case _:
            raise AssertionError(f"no words for {response}")


def _word(code: ErrorCode) -> str:
    return "OK" if code is ErrorCode.NONE else code.name


def _describe(value: TransactionMetadata | None) -> str:
    if value is None:
        return "forgotten"
    partitions = "".join(f" {partition}" for partition in sorted(value.partitions))
    coming = f", then {value.identity.producer_id}/0" if value.next_producer_id >= 0 else ""
    return f"{value.state} {value.producer_id}/{value.producer_epoch}{coming}{partitions}"


def _describe_order(order: WriteMarkers) -> str:
    what = "commit" if order.is_commit else "abort"
    partitions = " ".join(str(partition) for partition in order.partitions)
    return f"{what} {order.producer_id}/{order.producer_epoch} on {partitions}"


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def scenario_files() -> list[Path]:
    """Every story there is."""
    return sorted((Path(__file__).parents[1] / "scenarios" / "transactions").glob("*.txt"))
