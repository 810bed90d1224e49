"""Sessions of brokers that copy from us."""

from itertools import count

import pytest

from penstock.broker.fetch_sessions import EPOCH_MAX, FINAL_EPOCH, INITIAL_EPOCH, FetchPosition, PartitionKey
from penstock.broker.replicas import Replicas
from penstock.broker.replication.replica_session import ReplicaSession, ReplicaSessions
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId

NODE = NodeId(2)


def sessions() -> ReplicaSessions:
    ids = count(100)
    return ReplicaSessions(lambda: next(ids))


def take(subject: ReplicaSessions, session_id: int, epoch: int) -> ReplicaSession:
    return subject.take(NODE, session_id=session_id, epoch=epoch)


def test_session_is_found_again_by_its_id_and_counts_its_requests() -> None:
    subject = sessions()
    opened = take(subject, 0, INITIAL_EPOCH)
    assert take(subject, opened.session_id, 1) is opened
    assert take(subject, opened.session_id, 2) is opened


def test_session_after_the_largest_epoch_goes_on_with_one() -> None:
    subject = sessions()
    opened = take(subject, 0, INITIAL_EPOCH)
    opened.next_epoch = EPOCH_MAX
    take(subject, opened.session_id, EPOCH_MAX)
    assert take(subject, opened.session_id, 1) is opened


@pytest.mark.parametrize(
    ("id_step", "epoch", "code"),
    [
        (1, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (0, 2, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    ],
)
def test_session_that_does_not_fit_is_refused(id_step: int, epoch: int, code: ErrorCode) -> None:
    subject = sessions()
    opened = take(subject, 0, INITIAL_EPOCH)
    with pytest.raises(ApiError) as caught:
        take(subject, opened.session_id + id_step, epoch)
    assert caught.value.code is code


def test_broker_has_one_session_and_a_new_one_takes_its_place() -> None:
    subject = sessions()
    first, second = take(subject, 0, INITIAL_EPOCH), take(subject, 0, INITIAL_EPOCH)
    assert take(subject, second.session_id, 1) is second
    with pytest.raises(ApiError):
        take(subject, first.session_id, 1)


def test_request_without_a_session_leaves_that_of_its_broker_alone() -> None:
    subject = sessions()
    opened = take(subject, 0, INITIAL_EPOCH)
    assert take(subject, 0, FINAL_EPOCH).session_id == 0
    assert take(subject, opened.session_id, 1) is opened
    take(subject, opened.session_id, FINAL_EPOCH)
    with pytest.raises(ApiError):
        take(subject, opened.session_id, 2)


def test_sessions_of_brokers_that_are_gone_are_closed() -> None:
    subject = sessions()
    opened = take(subject, 0, INITIAL_EPOCH)
    subject.retain({NODE})
    assert take(subject, opened.session_id, 1) is opened
    subject.retain(())
    with pytest.raises(ApiError):
        take(subject, opened.session_id, 2)


def test_partition_that_is_not_here_is_refused_and_not_remembered() -> None:
    session = ReplicaSession(NODE, 1)
    key = PartitionKey("", b"x" * 16, 0)
    (refused,) = session.name(Replicas(), [(key, FetchPosition(0, 100, 0, -1, 0))])
    assert refused.code is ErrorCode.UNKNOWN_TOPIC_ID
    assert len(session) == 0
    assert list(session.take_due()) == []
