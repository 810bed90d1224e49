import pytest
from tests.metadata.cluster import ONE, ORDERS, THREE, TWO, directory_of, make_broker, make_image

from penstock.metadata.assignments import (
    UNASSIGNED_DIRECTORY,
    check_assignment,
    directory_for,
    new_partition_record,
)
from penstock.metadata.placement import Placement, place
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.schema import replace

BROKERS = [make_broker(1, stopping=True), make_broker(2), make_broker(3, fenced=True)]


def test_new_partition_is_led_by_a_broker_that_goes_on() -> None:
    record = new_partition_record(make_image(brokers=BROKERS), ORDERS, 0, replicas=(ONE, TWO, THREE))
    assert (record.leader, record.isr) == (TWO, (TWO,))
    assert record.directories == tuple(map(directory_of, (1, 2, 3)))


def test_assignment_to_brokers_that_all_stop_is_refused() -> None:
    with pytest.raises(ApiError) as error:
        check_assignment(make_image(brokers=BROKERS), (1, 3), replica_count=None)
    assert error.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_broker_that_is_about_to_stop_leads_nothing_new() -> None:
    image = make_image(brokers=BROKERS)
    placed = place(image.brokers.values(), Placement(partitions=4, replication_factor=2, start=0))
    assert {replicas[0] for replicas in placed} == {TWO}


def test_cluster_of_brokers_that_all_stop_takes_no_partition() -> None:
    image = make_image(brokers=BROKERS[:1])
    with pytest.raises(ApiError) as error:
        place(image.brokers.values(), Placement(partitions=1, replication_factor=1, start=0))
    assert error.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_directory_is_known_only_of_a_broker_that_has_one() -> None:
    two = replace(make_broker(2), log_dirs=(directory_of(2), directory_of(9)))
    image = make_image(brokers=[make_broker(1), two])
    assert directory_for(image, ONE) == directory_of(1)
    assert directory_for(image, TWO) == UNASSIGNED_DIRECTORY
    assert directory_for(image, NodeId(7)) == UNASSIGNED_DIRECTORY
