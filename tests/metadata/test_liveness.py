import pytest
from tests.metadata.cluster import ONE, THREE, TWO, make_broker, make_image, make_partition, only

from penstock.metadata.image import ClusterImage
from penstock.metadata.liveness import BrokerLiveness
from penstock.metadata.records import UnregisterBrokerRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, NodeId
from penstock.model.limits import SUSPICION_MS
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from penstock.wire.schema import replace

TIMEOUT = 9_000
START = Millis(1_000_000)


class Controller:
    """An image and the liveness beside it, with a metadata log that is only counted."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.now = START
        self.next_offset = 1_000
        self.liveness = BrokerLiveness(image, session_timeout_ms=TIMEOUT, now=START)

    def heartbeat(self, node_id: int, **fields: object) -> BrokerHeartbeatResponse:
        values = {"broker_epoch": 10 + node_id, "current_metadata_offset": self.next_offset - 1} | fields
        request = BrokerHeartbeatRequest(broker_id=node_id, **values)  # type: ignore[arg-type]  # its fields
        result = self.liveness.heartbeat(self.image, request, now=self.now, next_offset=self.next_offset)
        self.image = self.image.apply(result.records)
        self.next_offset += len(result.records)
        return result.response

    def pass_time(self, ms: int) -> None:
        self.now = Millis(self.now + ms)
        records = self.liveness.fence_expired(self.image, self.now)
        self.image = self.image.apply(records)
        self.next_offset += len(records)


def fenced(image: ClusterImage) -> list[int]:
    return [node_id for node_id, broker in image.brokers.items() if broker.is_fenced]


def test_silent_broker_is_fenced_after_its_time() -> None:
    controller = Controller(make_image())
    controller.pass_time(TIMEOUT - 1)
    controller.heartbeat(1)
    controller.heartbeat(3)
    assert fenced(controller.image) == []
    controller.pass_time(1)
    assert fenced(controller.image) == [TWO]
    assert only(controller.image).isr == (ONE, THREE)
    assert not controller.liveness.has_session(TWO, controller.now)
    assert controller.liveness.has_session(ONE, controller.now)


def test_whole_cluster_silent_leaves_nobody_leading_and_all_who_were_in_sync_eligible() -> None:
    controller = Controller(make_image())
    controller.pass_time(TIMEOUT)
    assert fenced(controller.image) == [1, 2, 3]
    assert (only(controller.image).leader, only(controller.image).isr) == (-1, ())
    assert only(controller.image).eligible_leader_replicas == (ONE, TWO, THREE)


def test_new_controller_gives_everybody_a_whole_session() -> None:
    controller = Controller(make_image())
    assert controller.liveness.next_deadline(controller.image) == START + TIMEOUT


def test_next_deadline_is_that_of_the_broker_silent_the_longest() -> None:
    controller = Controller(make_image(brokers=[make_broker(1), make_broker(2), make_broker(3, fenced=True)]))
    controller.now = Millis(START + 500)
    controller.heartbeat(1)
    assert controller.liveness.next_deadline(controller.image) == START + TIMEOUT
    controller.heartbeat(2)
    assert controller.liveness.next_deadline(controller.image) == START + 500 + TIMEOUT
    assert controller.liveness.next_deadline(make_image(brokers=[])) is None


def test_fenced_broker_is_let_in_when_it_has_read_its_registration() -> None:
    brokers = [make_broker(1), make_broker(2), make_broker(3, fenced=True)]
    controller = Controller(make_image(make_partition(isr=(), leader=-1, elr=(3,)), brokers=brokers))
    behind = controller.heartbeat(3, current_metadata_offset=12)
    assert (behind.is_fenced, behind.is_caught_up) == (True, False)
    response = controller.heartbeat(3, current_metadata_offset=13)
    assert (response.is_fenced, response.is_caught_up) == (False, True)
    assert fenced(controller.image) == []
    assert (only(controller.image).leader, only(controller.image).isr) == (THREE, (THREE,))


def test_fenced_broker_that_wants_to_stay_so_does() -> None:
    brokers = [make_broker(1), make_broker(2), make_broker(3, fenced=True)]
    controller = Controller(make_image(brokers=brokers))
    assert controller.heartbeat(3, want_fence=True).is_fenced
    assert fenced(controller.image) == [THREE]
    assert controller.heartbeat(3, want_shut_down=True).should_shut_down


def test_broker_that_was_let_go_is_not_let_in_again() -> None:
    """Only a new process is: it registers, and that ends the shutdown of the last one."""
    brokers = [make_broker(1), make_broker(2), make_broker(3, fenced=True, stopping=True)]
    controller = Controller(make_image(brokers=brokers))
    assert controller.heartbeat(3).is_fenced
    assert fenced(controller.image) == [THREE]


def test_broker_is_fenced_when_it_asks_to_be() -> None:
    controller = Controller(make_image())
    response = controller.heartbeat(1, want_fence=True)
    assert (response.is_fenced, response.should_shut_down) == (True, False)
    assert (only(controller.image).leader, only(controller.image).isr) == (TWO, (TWO, THREE))


def test_broker_that_wants_to_stop_is_let_go_when_everybody_has_heard() -> None:
    controller = Controller(make_image())
    for node_id in (1, 2, 3):
        controller.heartbeat(node_id)
    first = controller.heartbeat(1, want_shut_down=True)
    assert not first.should_shut_down
    assert (only(controller.image).leader, only(controller.image).isr) == (TWO, (TWO, THREE))
    assert controller.image.brokers[ONE].is_in_controlled_shutdown
    assert not controller.heartbeat(1, want_shut_down=True).should_shut_down
    controller.heartbeat(2)
    assert not controller.heartbeat(1, want_shut_down=True).should_shut_down
    controller.heartbeat(3)
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down
    assert fenced(controller.image) == [ONE]


def test_last_broker_may_stop_and_lead_again_when_it_is_back() -> None:
    controller = Controller(make_image(make_partition((1,)), brokers=[make_broker(1)]))
    controller.heartbeat(1, want_shut_down=True)
    assert only(controller.image).eligible_leader_replicas == (ONE,)
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down


def test_stop_goes_on_under_a_new_controller() -> None:
    controller = Controller(make_image())
    controller.heartbeat(1, want_shut_down=True)
    other = Controller(controller.image)
    assert not other.heartbeat(1, want_shut_down=True).should_shut_down
    other.heartbeat(2)
    other.heartbeat(3)
    assert other.heartbeat(1, want_shut_down=True).should_shut_down


def test_broker_that_wants_to_stop_at_once_is_fenced() -> None:
    controller = Controller(make_image())
    response = controller.heartbeat(1, want_fence=True, want_shut_down=True)
    assert (response.is_fenced, response.should_shut_down) == (True, True)


@pytest.mark.parametrize(
    ("node_id", "epoch", "error"),
    [(1, 10, ErrorCode.STALE_BROKER_EPOCH), (9, 19, ErrorCode.BROKER_ID_NOT_REGISTERED)],
)
def test_heartbeat_of_another_process_counts_for_nothing(node_id: int, epoch: int, error: ErrorCode) -> None:
    controller = Controller(make_image())
    controller.now = Millis(START + TIMEOUT)
    assert controller.heartbeat(node_id, broker_epoch=epoch).error_code == error
    assert controller.liveness.expired(controller.image, controller.now) == (ONE, TWO, THREE)


def test_new_process_begins_a_new_session() -> None:
    controller = Controller(make_image())
    controller.now = Millis(START + TIMEOUT)
    controller.image = controller.image.apply([replace(make_broker(2), broker_epoch=50)])
    controller.liveness.follow(controller.image, controller.now)
    assert controller.liveness.expired(controller.image, controller.now) == (ONE, THREE)


def test_forgotten_broker_has_no_session() -> None:
    controller = Controller(make_image())
    controller.image = controller.image.apply([UnregisterBrokerRecord(broker_id=2, broker_epoch=12)])
    controller.pass_time(TIMEOUT)
    assert fenced(controller.image) == [ONE, THREE]
    assert not controller.liveness.has_session(TWO, controller.now)


def test_broker_that_was_forgotten_a_moment_ago_is_not_shut_out() -> None:
    controller = Controller(make_image())
    image = controller.image.apply([UnregisterBrokerRecord(broker_id=TWO, broker_epoch=12)])
    assert controller.liveness.expired(image, Millis(START + TIMEOUT)) == (ONE, THREE)


def test_suspect_broker_that_stays_silent_is_fenced_before_its_time() -> None:
    controller = Controller(make_image())
    controller.liveness.suspect(TWO, controller.now)
    assert controller.liveness.next_deadline(controller.image) == START + SUSPICION_MS
    controller.pass_time(SUSPICION_MS - 1)
    assert fenced(controller.image) == []
    controller.pass_time(1)
    assert fenced(controller.image) == [TWO]
    assert not controller.liveness.has_session(TWO, controller.now)


def test_session_that_is_over_has_a_reason() -> None:
    controller = Controller(make_image())
    controller.liveness.suspect(TWO, Millis(START + 10))
    assert controller.liveness.why_expired(TWO, Millis(START + 10 + SUSPICION_MS)) == (
        f"its connection broke {SUSPICION_MS} ms ago, and nothing was heard for {SUSPICION_MS + 10} ms"
    )
    assert controller.liveness.why_expired(ONE, Millis(START + TIMEOUT + 5)) == (
        f"no heartbeat for {TIMEOUT + 5} ms, a session is {TIMEOUT} ms"
    )


def test_suspect_broker_that_is_heard_of_again_has_a_whole_session() -> None:
    controller = Controller(make_image())
    controller.liveness.suspect(TWO, controller.now)
    controller.pass_time(SUSPICION_MS - 1)
    controller.heartbeat(2)
    controller.pass_time(SUSPICION_MS)
    assert fenced(controller.image) == []


def test_suspicion_raised_twice_counts_from_the_first() -> None:
    controller = Controller(make_image())
    controller.liveness.suspect(TWO, controller.now)
    controller.pass_time(SUSPICION_MS - 1)
    controller.liveness.suspect(TWO, controller.now)
    controller.pass_time(1)
    assert fenced(controller.image) == [TWO]


def test_suspicion_never_makes_a_session_longer() -> None:
    controller = Controller(make_image())
    controller.pass_time(TIMEOUT - 1)
    controller.liveness.suspect(TWO, controller.now)
    controller.pass_time(1)
    assert TWO in fenced(controller.image)


def test_suspicion_of_somebody_unknown_is_nothing() -> None:
    controller = Controller(make_image())
    controller.liveness.suspect(NodeId(9), controller.now)
    assert controller.liveness.next_deadline(controller.image) == START + TIMEOUT


def test_process_that_is_heard_of_lives_and_its_predecessor_does_not_count() -> None:
    controller = Controller(make_image())
    controller.pass_time(TIMEOUT - 1)
    for node_id in (1, 2, 3):
        controller.liveness.hear(NodeId(node_id), 10 + node_id - (node_id == TWO), controller.now)
    controller.pass_time(1)
    assert fenced(controller.image) == [TWO]
