"""A shell round a shard, as small as can be: it appends, replays, answers, and lets time pass."""

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from penstock.coordinator.events import RequestReceived, TopicsDeleted
from penstock.coordinator.outcome import CoordinatorRecord, Outcome, ProducerEpoch
from penstock.groups.records import GroupRecord, decode
from penstock.groups.settings import GroupSettings
from penstock.groups.shard import GroupShard
from penstock.model.ids import ZERO_TOPIC_ID, Millis, TopicId
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import encode_response
from penstock.wire.schema import Struct

R = TypeVar("R", bound=Struct)

START = 1_000_000
DEFAULTS = GroupSettings()
API_KEYS: dict[type[Struct], ApiKey] = {spec.request: spec.key for spec in APIS.values()}


@dataclass(frozen=True, slots=True)
class FixedTopics:
    """Topics with numbered ids, unless they have others."""

    partition_counts: Mapping[str, int]
    ids: Mapping[str, TopicId] = field(default_factory=dict)

    def name_of(self, topic_id: TopicId) -> str | None:
        return next((name for name in self.partition_counts if self.id_of(name) == topic_id), None)

    def id_of(self, name: str) -> TopicId:
        if name in self.ids:
            return self.ids[name]
        names = list(self.partition_counts)
        return TopicId(bytes([names.index(name) + 1] * 16)) if name in names else ZERO_TOPIC_ID

    def has_partition(self, name: str, partition: int) -> bool:
        return 0 <= partition < self.partition_counts.get(name, 0)

    def partition_count(self, name: str) -> int:
        return self.partition_counts.get(name, 0)

    def names(self) -> Collection[str]:
        return self.partition_counts.keys()


TOPICS = FixedTopics({"orders": 4, "payments": 2})


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What stands at one offset of the log: a record, or the marker that ends a transaction."""

    record: CoordinatorRecord | None = None
    producer: ProducerEpoch | None = None
    is_commit: bool = False


def numbered_uuids() -> Iterator[bytes]:
    return (number.to_bytes(16, "big") for number in itertools.count(1))


@dataclass
class Shell:
    """Drives one shard; a second one, its shadow, only ever sees the log."""

    settings: GroupSettings = DEFAULTS
    topics: FixedTopics = TOPICS
    now: int = START
    log: list[Logged] = field(default_factory=list)
    answers: dict[int, Struct] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tokens = itertools.count(1)
        self._uuids = numbered_uuids()
        self._decoded: list[GroupRecord] = []
        self._sent: dict[int, tuple[ApiKey, int]] = {}
        self.shard = self._new_shard()
        self.shadow = self._new_shard()
        self.take(self.shard.loaded(Millis(self.now)))

    def send(self, request: Struct, *, version: int, client: str = "client", host: str = "/127.0.0.1") -> int:
        """Give the shard a request; returns its token."""
        token = self.new_token()
        self._sent[token] = (API_KEYS[type(request)], version)
        event = RequestReceived(
            token=token, request=request, api_version=version, client_id=client, client_host=host
        )
        self.take(self.shard.handle(event, Millis(self.now)))
        return token

    def new_token(self) -> int:
        return next(self._tokens)

    def ask(self, kind: type[R], request: Struct, *, version: int, client: str = "client") -> R:
        """Give the shard a request that it answers at once."""
        return self.answer(kind, self.send(request, version=version, client=client))

    def answer(self, kind: type[R], token: int) -> R:
        response = self.answers[token]
        assert isinstance(response, kind)
        return response

    def is_waiting(self, token: int) -> bool:
        return token not in self.answers

    def delete_topics(self, *names: str) -> None:
        self.begin_to_forget(*names)
        self.wait(0)

    def begin_to_forget(self, *names: str) -> None:
        """Say that topics are gone, and leave the shard no time to do anything about it."""
        deleted = {name: self.topics.id_of(name) for name in names}
        self.take(self.shard.handle(TopicsDeleted(topics=deleted), Millis(self.now)))

    def change_topics(self, topics: FixedTopics) -> None:
        """The broker has learned of other topics."""
        self.topics = topics
        self.shard.use_topics(topics)

    def wait(self, duration_ms: int) -> None:
        """Let time pass, from deadline to deadline."""
        end = self.now + duration_ms
        for _ in range(10_000):
            due = self.shard.next_deadline()
            if due is None or due > end:
                break
            self.now = max(self.now, due)
            self.take(self.shard.tick(Millis(self.now)))
        else:
            raise AssertionError("the shard is always due")
        self.now = end

    def end_transaction(self, producer_id: int, *, is_commit: bool, producer_epoch: int = 0) -> None:
        producer = ProducerEpoch(producer_id=producer_id, producer_epoch=producer_epoch)
        self._append(Logged(producer=producer, is_commit=is_commit))
        self.check()

    def crash(self) -> None:
        """Lose all that is not in the log, and load it again."""
        self.shard = self._new_shard()
        for offset, logged in enumerate(self.log):
            _replay(self.shard, logged, offset)
        self.take(self.shard.loaded(Millis(self.now)))

    def with_settings(self, **changes: Any) -> None:
        """Restart with other settings."""
        self.settings = replace(self.settings, **changes)
        self.crash()

    def records(self) -> list[GroupRecord]:
        """Everything in the log but markers."""
        return self._decoded

    def take(self, outcome: Outcome) -> None:
        """Append, replay, answer."""
        for record in outcome.records:
            self._append(Logged(record=record, producer=outcome.transaction))
        for reply in outcome.replies:
            assert reply.token not in self.answers, "answered twice"
            key, version = self._sent[reply.token]
            assert encode_response(key, version, 1, reply.response), "every answer can be sent"
            self.answers[reply.token] = reply.response
        self.check()

    def check(self) -> None:
        self.shard.validate()
        assert self.shard.hard_state() == self.shadow.hard_state()

    def _append(self, logged: Logged) -> None:
        self.log.append(logged)
        decoded = None if logged.record is None else decode(logged.record.key, logged.record.value)
        if decoded is not None:
            self._decoded.append(decoded)
        for shard in (self.shard, self.shadow):
            _replay(shard, logged, len(self.log) - 1)

    def _new_shard(self) -> GroupShard:
        return GroupShard(settings=self.settings, topics=self.topics, new_uuid=lambda: next(self._uuids))


def _replay(shard: GroupShard, logged: Logged, offset: int) -> None:
    producer_id = -1 if logged.producer is None else logged.producer.producer_id
    if logged.record is None:
        shard.complete_transaction(producer_id, 0, is_commit=logged.is_commit)
    else:
        shard.replay(logged.record, offset=offset, producer_id=producer_id)
