"""What clients and other brokers asked of this one, and what they got: counted as it happens.

This is on the way of every request, so there is little of it: a few additions on objects that are found by
one look into a dictionary. APIs are known to the broker and topics exist, so nobody can make the tables grow
by what is sent.
"""

from collections.abc import Iterable

from penstock.broker.metrics.histogram import Histogram
from penstock.storage.append_result import AppendResult


class ApiTraffic:
    """Of one API."""

    __slots__ = ("latency", "request_bytes", "response_bytes")

    def __init__(self) -> None:
        #: From the moment a request is complete until its answer is handed to the connection.
        self.latency = Histogram()
        self.request_bytes = 0
        self.response_bytes = 0

    def answered(self, seconds: float, request_bytes: int, response_bytes: int) -> None:
        """One more request was answered."""
        self.latency.observe(seconds)
        self.request_bytes += request_bytes
        self.response_bytes += response_bytes


class TopicTraffic:
    """Of one topic, with clients; copies to and from other brokers are counted by themselves."""

    __slots__ = ("batches_in", "bytes_in", "bytes_out", "messages_in")

    def __init__(self) -> None:
        self.messages_in = 0
        self.batches_in = 0
        self.bytes_in = 0
        self.bytes_out = 0


class Traffic:
    """Of one broker, since it started."""

    __slots__ = (
        "apis",
        "connections",
        "errors",
        "file_bytes_out",
        "memory_bytes_out",
        "pauses",
        "replication_bytes_out",
        "topics",
    )

    def __init__(self) -> None:
        self.apis: dict[int, ApiTraffic] = {}
        self.topics: dict[str, TopicTraffic] = {}
        #: By API and error code.
        self.errors: dict[tuple[int, int], int] = {}
        #: Admitted ones.
        self.connections = 0
        #: How often a connection was not read for a while, since requests held too much memory.
        self.pauses = 0
        #: Of records sent to readers: straight from files, and from the tail cache.
        self.file_bytes_out = 0
        self.memory_bytes_out = 0
        #: Of records sent to brokers that copy them.
        self.replication_bytes_out = 0

    def api(self, api_key: int) -> ApiTraffic:
        """That of an API which exists."""
        api = self.apis.get(api_key)
        if api is None:
            api = self.apis[api_key] = ApiTraffic()
        return api

    def took_in(self, name: str, result: AppendResult, byte_count: int) -> None:
        """A producer's batch was appended, unless it was there already."""
        base_offset, last_offset, _, is_duplicate, _ = result
        if not is_duplicate:
            topic = self.topics.get(name) or self.topic(name)
            topic.batches_in += 1
            topic.messages_in += last_offset - base_offset + 1
            topic.bytes_in += byte_count

    def failed(self, api_key: int, error_code: int) -> None:
        """A request, or a part of one, was answered with an error."""
        key = (api_key, int(error_code))
        self.errors[key] = self.errors.get(key, 0) + 1

    def topic(self, name: str) -> TopicTraffic:
        """That of a topic which exists."""
        topic = self.topics.get(name)
        if topic is None:
            topic = self.topics[name] = TopicTraffic()
        return topic

    def keep_topics(self, existing: Iterable[str]) -> None:
        """Forget topics that are gone."""
        for name in self.topics.keys() - set(existing):
            del self.topics[name]
