"""A fetch session from the asking side (KIP-227): name a partition once, and again only when it changes.

The first request of a session names everything and gets an id; every later one counts its epoch up, names
what has a new position and what is to be forgotten. What is neither named nor answered goes on being asked
for as it was. After any failure nobody knows what the other side has taken in, so a new session is opened.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from penstock.broker.fetch_sessions import EPOCH_MAX, INITIAL_EPOCH, NO_SESSION, PartitionKey
from penstock.model.ids import TopicId
from penstock.wire.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic


class SessionRequest(NamedTuple):
    """The part of a request that belongs to its session."""

    session_id: int
    session_epoch: int
    topics: tuple[FetchTopic, ...]
    forgotten: tuple[ForgottenTopic, ...]


class FetchClientSession:
    """What the other side believes we ask for."""

    def __init__(self) -> None:
        self._session_id = NO_SESSION
        self._next_epoch = INITIAL_EPOCH
        self._named: set[PartitionKey] = set()
        #: In order, to be told with the next request.
        self._forgotten: dict[PartitionKey, None] = {}

    @property
    def is_new(self) -> bool:
        """Whether the next request opens it, and so must name everything."""
        return self._next_epoch == INITIAL_EPOCH

    @property
    def is_open(self) -> bool:
        """Whether the other side has said by which id it knows the session."""
        return self._session_id != NO_SESSION

    @property
    def names_any(self) -> bool:
        """Whether anything is asked for."""
        return bool(self._named)

    @property
    def has_forgotten(self) -> bool:
        """Whether there is something that the other side should forget."""
        return bool(self._forgotten)

    def forget(self, key: PartitionKey) -> None:
        """Ask for the partition no more."""
        if key in self._named:
            self._named.discard(key)
            self._forgotten[key] = None

    def begin(self, named: Iterable[tuple[PartitionKey, FetchPartition]]) -> SessionRequest:
        """The next request, which names these."""
        stated = sorted(named, key=lambda each: each[0])
        for key, _ in stated:
            self._forgotten.pop(key, None)
            self._named.add(key)
        request = SessionRequest(
            session_id=self._session_id,
            session_epoch=self._next_epoch,
            topics=tuple(
                FetchTopic(topic_id=TopicId(topic_id), partitions=tuple(partition for _, partition in group))
                for topic_id, group in groupby(stated, lambda each: each[0].topic_id)
            ),
            forgotten=tuple(
                ForgottenTopic(topic_id=TopicId(topic_id), partitions=tuple(key.partition for key in group))
                for topic_id, group in groupby(sorted(self._forgotten), lambda key: key.topic_id)
            ),
        )
        self._forgotten.clear()
        self._next_epoch = 1 if self._next_epoch == EPOCH_MAX else self._next_epoch + 1
        return request

    def accepted(self, session_id: int) -> None:
        """The other side has answered a request of this session."""
        self._session_id = session_id

    def reset(self) -> None:
        """Something failed: begin anew."""
        self._session_id = NO_SESSION
        self._next_epoch = INITIAL_EPOCH
        self._named.clear()
        self._forgotten.clear()
