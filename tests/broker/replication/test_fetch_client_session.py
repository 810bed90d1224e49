"""A fetch session from the asking side."""

from penstock.broker.fetch_sessions import EPOCH_MAX, PartitionKey
from penstock.broker.replication.fetch_client_session import FetchClientSession, SessionRequest
from penstock.wire.messages.fetch import FetchPartition

ORDERS, PAYMENTS = b"o" * 16, b"p" * 16


def key(index: int, topic_id: bytes = ORDERS) -> PartitionKey:
    return PartitionKey("", topic_id, index)


def begin(session: FetchClientSession, *keys: PartitionKey) -> SessionRequest:
    return session.begin((each, FetchPartition(partition=each.partition)) for each in keys)


def opened(*keys: PartitionKey) -> FetchClientSession:
    session = FetchClientSession()
    begin(session, *keys)
    session.accepted(77)
    return session


def test_session_opening_names_everything_by_topic() -> None:
    session = FetchClientSession()
    request = begin(session, key(1), key(0, PAYMENTS), key(0))
    assert (request.session_id, request.session_epoch) == (0, 0)
    named = [(topic.topic_id, [each.partition for each in topic.partitions]) for topic in request.topics]
    assert named == [(ORDERS, [0, 1]), (PAYMENTS, [0])]
    assert not session.is_new
    assert not session.is_open


def test_session_open_counts_its_requests_and_names_what_changed() -> None:
    session = opened(key(0), key(1))
    assert session.is_open
    first, second = begin(session, key(1)), begin(session)
    assert [(each.session_id, each.session_epoch) for each in (first, second)] == [(77, 1), (77, 2)]
    assert [len(each.topics) for each in (first, second)] == [1, 0]
    assert session.names_any


def test_session_forgets_what_was_named_once() -> None:
    session = opened(key(0), key(1))
    session.forget(key(1))
    session.forget(key(5))
    assert session.has_forgotten
    request = begin(session)
    assert [(each.topic_id, each.partitions) for each in request.forgotten] == [(ORDERS, (1,))]
    assert not begin(session).forgotten


def test_session_partition_named_again_is_not_forgotten() -> None:
    session = opened(key(0))
    session.forget(key(0))
    request = begin(session, key(0))
    assert (len(request.topics), request.forgotten) == (1, ())


def test_session_after_the_largest_epoch_goes_on_with_one() -> None:
    session = opened(key(0))
    session._next_epoch = EPOCH_MAX
    assert [begin(session).session_epoch for _ in range(2)] == [EPOCH_MAX, 1]


def test_session_reset_begins_anew() -> None:
    session = opened(key(0))
    session.forget(key(0))
    session.reset()
    assert session.is_new
    assert not session.names_any
    request = begin(session, key(0))
    assert (request.session_id, request.session_epoch, request.forgotten) == (0, 0, ())
