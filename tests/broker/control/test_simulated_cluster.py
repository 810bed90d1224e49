"""Several whole brokers become one system, lose members and get them back."""

import pytest
from tests.broker.control.simulated_cluster import SimulatedCluster, creation, simulated

from penstock.broker.peers.address import Address
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.sim.cluster.node import PORT
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest

SESSION_SECONDS = 1.5
ELECTION_SECONDS = 0.6


def test_cluster_grows_from_one_to_three() -> None:
    with simulated(3) as cluster:
        assert [broker.node_id for broker in cluster.serving()] == [1, 2, 3]
        assert len({broker.cluster_id for broker in cluster.serving()}) == 1
        assert sorted(cluster.image.brokers) == [1, 2, 3]
        epochs = [cluster.image.brokers[broker.node_id].epoch for broker in cluster.serving()]
        assert epochs == [broker.broker_epoch for broker in cluster.serving()]
        assert len(set(epochs)) == 3
        cluster.until(lambda: cluster.voters() == [1, 2, 3])


def test_two_that_join_at_once_by_way_of_any_broker_get_two_ids() -> None:
    with simulated(2) as cluster:
        cluster.add(join=f"b:{PORT}")
        cluster.add(join=f"a:{PORT}")
        cluster.until(lambda: len(cluster.serving()) == 4)
        assert sorted(broker.node_id for broker in cluster.serving()) == [1, 2, 3, 4]


def test_broker_that_dies_while_it_joins_does_not_leave_a_member_behind() -> None:
    with simulated(1) as cluster:
        node = cluster.add()
        cluster.until(lambda: NodeId(2) in cluster.image.brokers)
        assert not node.is_serving
        node.lose_power()
        node.boot()
        cluster.until(lambda: node.is_serving)
        assert sorted(cluster.image.brokers) == [1, 2]


def test_broker_waits_for_the_cluster_that_it_is_to_join() -> None:
    with simulated(1) as cluster:
        cluster.nodes[0].kill()
        node = cluster.add()
        cluster.pass_time(5.0)
        assert not node.is_serving
        cluster.nodes[0].boot()
        cluster.until(lambda: node.is_serving)


def test_broker_that_was_told_its_id_joins_with_it() -> None:
    with simulated(1) as cluster:
        node = cluster.add({"node.id": "9"})
        cluster.until(lambda: node.is_serving)
        assert sorted(cluster.image.brokers) == [1, 9]


@pytest.mark.parametrize("by", [0, 1, 2])
def test_topic_is_created_by_way_of_any_broker_and_known_there_at_once(by: int) -> None:
    with simulated(3) as cluster:
        assert cluster.create(cluster.nodes[by], "orders", partitions=3, replicas=2) == ErrorCode.NONE
        broker = cluster.nodes[by].broker
        assert broker is not None
        assert "orders" in broker.image.topics
        assert broker.follower.followed_offset == broker.quorum.applied_offset
        cluster.until(lambda: all("orders" in each.image.topics for each in cluster.serving()))


def test_founders_choice_holds_for_all() -> None:
    with simulated(2, {"min.insync.replicas": "2"}) as cluster:
        assert cluster.image.cluster_configs() == {"min.insync.replicas": "2"}
        other = cluster.add({"min.insync.replicas": "1"})
        cluster.until(lambda: other.is_serving)
        assert cluster.image.cluster_configs() == {"min.insync.replicas": "2"}


def test_producer_ids_come_from_the_controller_and_never_twice() -> None:
    with simulated(3) as cluster:
        ids = [
            cluster.ask(node, InitProducerIdRequest(transactional_id=None)).producer_id
            for node in (*cluster.nodes, *cluster.nodes)
        ]
        assert len(set(ids)) == len(ids)
        assert len({number // 1000 for number in ids}) == 3


def test_every_broker_names_the_same_controller_and_all_brokers() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        for node in cluster.nodes:
            described = cluster.ask(node, DescribeClusterRequest())
            assert described.controller_id == cluster.controller.node_id
            assert [broker.broker_id for broker in described.brokers] == [1, 2, 3]
            assert cluster.ask(node, MetadataRequest()).controller_id == cluster.controller.node_id


def test_killed_broker_is_shut_out_soon_and_let_in_when_it_is_back() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        victim = next(node for node in cluster.nodes if node.broker is not cluster.controller)
        assert victim.broker is not None
        node_id, epoch = victim.broker.node_id, victim.broker.broker_epoch
        victim.kill()
        assert cluster.until(lambda: not cluster.is_live(node_id)) < SESSION_SECONDS
        victim.boot()
        cluster.until(lambda: victim.is_serving)
        assert cluster.is_live(node_id)
        assert victim.broker is not None
        assert victim.broker.node_id == node_id
        assert victim.broker.broker_epoch > epoch


def test_broker_that_is_cut_off_is_shut_out_when_its_session_ends() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        victim = next(node for node in cluster.nodes if node.broker is not cluster.controller)
        assert victim.broker is not None
        node_id = victim.broker.node_id
        victim.pause()
        seconds = cluster.until(lambda: not cluster.is_live(node_id))
        assert SESSION_SECONDS - 0.4 < seconds < SESSION_SECONDS + 0.4
        victim.resume()
        cluster.until(lambda: cluster.is_live(node_id))


def test_broker_that_is_left_alone_doubts_that_it_leads_until_others_are_back() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        assert cluster.create(cluster.nodes[0], "orders", replicas=3) == ErrorCode.NONE
        leader = cluster.node_of(cluster.image.topics["orders"].partitions[0].leader)
        assert leader.broker is not None
        doubted = leader.broker.replication.doubted
        others = [node for node in cluster.nodes if node is not leader]
        for node in others:
            node.kill()
        cluster.until(lambda: [str(partition) for partition in doubted] == ["orders-0"])
        for node in others:
            node.boot()
        cluster.until(lambda: not doubted)


def test_another_takes_office_when_the_controller_is_killed() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        first = cluster.controller.node_id
        victim = cluster.node_of(first)
        victim.kill()
        assert cluster.controller.node_id != first
        assert cluster.until(lambda: not cluster.is_live(first)) < SESSION_SECONDS + ELECTION_SECONDS
        survivor = next(node for node in cluster.nodes if node.is_serving)
        assert cluster.create(survivor, "orders") == ErrorCode.NONE
        victim.boot()
        cluster.until(lambda: victim.is_serving)
        assert "orders" in cluster.nodes[0].broker.image.topics  # type: ignore[union-attr]  # it serves


def test_stopped_broker_lets_others_lead_first_and_comes_back() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        leaving = cluster.controller.node_id
        node = cluster.node_of(leaving)
        node.stop()
        cluster.until(lambda: not node.is_serving)
        cluster.until(lambda: cluster.image.brokers[leaving].is_in_controlled_shutdown)
        assert cluster.controller.node_id != leaving
        cluster.until(lambda: not node.is_up)
        assert cluster.image.brokers[leaving].is_fenced
        cluster.until(lambda: node.is_serving)
        assert not cluster.image.brokers[leaving].is_in_controlled_shutdown
        assert cluster.is_live(leaving)


def test_whole_cluster_comes_back_after_an_outage() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        assert cluster.create(cluster.nodes[0], "orders", partitions=3, replicas=1) == ErrorCode.NONE
        for node in cluster.nodes:
            node.lose_power()
        for node in cluster.nodes:
            node.boot()
        cluster.until(lambda: len(cluster.serving()) == 3)
        cluster.until(lambda: all(each.has_leader for each in cluster.image.topics["orders"].partitions))


@pytest.mark.parametrize("seed", range(5))
def test_topic_whose_brokers_all_died_before_it_was_on_their_disks_has_leaders(seed: int) -> None:
    with simulated(3, seed=seed) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        controller = cluster.controller
        cluster.begin_to_ask(cluster.nodes[0], creation("orders", partitions=6, replicas=2))
        cluster.until(lambda: "orders" in controller.image.topics, step_seconds=0.0001)
        for node in cluster.nodes:
            node.lose_power()
        for node in cluster.nodes:
            node.boot()
        cluster.until(lambda: len(cluster.serving()) == 3)
        cluster.until(lambda: all(each.has_leader for each in cluster.image.topics["orders"].partitions))


def test_empty_broker_is_decommissioned_and_goes_home() -> None:
    with simulated(4) as cluster:
        cluster.until(lambda: len(cluster.voters()) == 3)
        leaving = cluster.voters()[0]
        node, other = cluster.node_of(leaving), cluster.nodes[-1]
        request = DecommissionBrokerRequest(broker_id=leaving)
        first = cluster.ask(other, request)
        assert (first.error_code, first.replicas_left, first.is_voter) == (0, 0, True)
        cluster.until(lambda: NodeId(leaving) not in cluster.image.brokers)
        assert leaving not in cluster.voters()
        assert len(cluster.voters()) == 3
        cluster.until(lambda: node.broker is None or node.broker.membership.was_sent_home.is_set())
        assert cluster.ask(other, request).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_broker_that_was_decommissioned_while_it_was_down_does_not_come_back() -> None:
    with simulated(4) as cluster:
        cluster.until(lambda: len(cluster.voters()) == 3)
        node = cluster.nodes[-1]
        assert node.node_id == 4
        node.kill()
        cluster.until(lambda: not cluster.is_live(4))
        request = DecommissionBrokerRequest(broker_id=4)
        assert cluster.ask(cluster.nodes[0], request).error_code == ErrorCode.NONE
        cluster.until(lambda: NodeId(4) not in cluster.image.brokers)
        said: list[str] = []
        node.on_change = said.append
        node.boot()
        cluster.until(lambda: any("it was taken out of the cluster" in each for each in said))
        node.is_wanted = False
        cluster.pass_time(2.0)
        assert NodeId(4) not in cluster.image.brokers


def test_broker_that_was_forgotten_is_not_taken_for_the_one_that_has_its_id_now() -> None:
    with simulated(4) as cluster:
        cluster.until(lambda: len(cluster.voters()) == 3)
        asked, forgotten = cluster.nodes[0], cluster.nodes[-1]
        forgotten.kill()
        cluster.until(lambda: not cluster.is_live(4))
        assert cluster.ask(asked, DecommissionBrokerRequest(broker_id=4)).error_code == ErrorCode.NONE
        cluster.until(lambda: NodeId(4) not in cluster.image.brokers)
        successor = cluster.add()
        cluster.until(lambda: successor.is_serving)
        assert successor.node_id == 4
        said: list[str] = []
        forgotten.on_change = said.append
        forgotten.boot()
        cluster.until(lambda: any("it was taken out of the cluster" in each for each in said))
        at = {broker.quorum.addresses.address_of(NodeId(4)) for broker in cluster.serving()}
        assert at == {Address(successor.name, PORT)}
        successor.kill()
        cluster.until(lambda: not cluster.is_live(4))
        cluster.pass_time(2.0)
        successor.boot()
        cluster.until(lambda: successor.is_serving)
        forgotten.is_wanted = False
        cluster.pass_time(2.0)


def test_voter_that_is_emptied_while_another_is_dead_leaves_a_quorum_behind() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        controller = next(node for node in cluster.nodes if node.broker is cluster.controller)
        dead, leaving = (node for node in cluster.nodes if node is not controller)
        dead_id, leaving_id = NodeId(dead.node_id or 0), NodeId(leaving.node_id or 0)
        dead.kill()
        cluster.until(lambda: not cluster.is_live(dead_id))
        assert cluster.ask(controller, DecommissionBrokerRequest(broker_id=leaving_id)).error_code == 0
        cluster.until(lambda: leaving_id not in cluster.image.brokers)
        assert cluster.voters() == [controller.node_id]
        controller.kill()
        controller.boot()
        cluster.until(lambda: controller.is_serving)
        assert cluster.create(controller, "orders") == ErrorCode.NONE


def test_broker_that_lives_is_not_unregistered_and_one_that_was_silent_comes_back() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        victim = next(node for node in cluster.nodes if node.broker is not cluster.controller)
        asked = next(node for node in cluster.nodes if node.broker is cluster.controller)
        assert victim.broker is not None
        node_id, epoch = victim.broker.node_id, victim.broker.broker_epoch
        refused = cluster.ask(victim, UnregisterBrokerRequest(broker_id=node_id))
        assert refused.error_code == ErrorCode.INVALID_REQUEST
        assert f"penstock broker decommission {node_id}" in refused.error_message
        assert victim.broker.broker_epoch == epoch

        victim.pause()
        cluster.until(lambda: not cluster.is_live(node_id))
        assert cluster.ask(asked, UnregisterBrokerRequest(broker_id=node_id)).error_code == 0
        assert node_id not in cluster.image.brokers
        victim.resume()
        cluster.until(lambda: cluster.is_live(node_id))
        assert victim.broker.broker_epoch > epoch


def test_paused_sole_controller_shuts_nobody_out_when_it_goes_on() -> None:
    with simulated(2) as cluster:
        first, second = cluster.nodes
        assert cluster.controller is first.broker
        first.pause()
        cluster.pass_time(3 * SESSION_SECONDS)
        first.resume()
        for _ in range(100):
            cluster.pass_time(0.01)
            assert cluster.is_live(1)
            assert cluster.is_live(2)
        assert second.is_serving


def _serving_ids(cluster: SimulatedCluster) -> list[int]:
    return [broker.node_id for broker in cluster.serving()]


def test_brokers_that_know_each_other_need_not_be_told_to_join_again() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        for node in cluster.nodes:
            node.settings = type(node.settings)(name=node.name, flags=node.settings.flags)
            node.kill()
        for node in cluster.nodes:
            node.boot()
        cluster.until(lambda: _serving_ids(cluster) == [1, 2, 3])
