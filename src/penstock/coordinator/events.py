"""What a shard can be told."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.ids import TopicId
from penstock.wire.schema import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReceived:
    """A client asks for something.

    One that names many keys must name only keys of one shard: the shell splits it and joins the answers.
    """

    #: Chosen by the shell, never twice; the reply carries it.
    token: int
    request: Struct
    api_version: int
    client_id: str = ""
    #: As Kafka shows it: ``/127.0.0.1``.
    client_host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsDeleted:
    """These topics are gone, and with them whatever was remembered about them.

    There may be others of the same names by now: what is known of those stays.
    """

    #: Their ids by their names.
    topics: Mapping[str, TopicId]
