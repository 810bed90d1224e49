import pytest
from tests.metadata.cluster import ONE, TWO, directory_of, make_broker, make_image, make_partition

from penstock.metadata.image import ClusterImage
from penstock.metadata.joining import join_cluster
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.model.limits import BROKERS_PER_CLUSTER_MAX
from penstock.wire.messages.join_cluster import (
    ANY_NODE_ID,
    JoinClusterRequest,
    JoinClusterResponse,
    JoinEndpoint,
    JoinVoter,
)

NEW_DIRECTORY = b"new directory   "
VOTERS = {ONE: directory_of(1)}
HOST_1 = JoinEndpoint(name="PLAINTEXT", host="host1", port=9001)


def join(
    image: ClusterImage,
    directory_id: bytes = NEW_DIRECTORY,
    *,
    cluster_id: str | None = None,
    node_id: int = ANY_NODE_ID,
) -> Result[JoinClusterResponse]:
    request = JoinClusterRequest(
        cluster_id=cluster_id,
        directory_id=directory_id,
        endpoints=(JoinEndpoint(name="PLAINTEXT", host="new", port=1),),
        rack="r",
        node_id=node_id,
    )
    return join_cluster(image, request, cluster_id="here", voters=VOTERS, next_offset=100)


def test_new_directory_gets_the_next_id_and_hears_who_decides() -> None:
    image = make_image()
    result = join(image)
    assert result.response == JoinClusterResponse(
        cluster_id="here",
        node_id=4,
        voters=(JoinVoter(node_id=1, directory_id=directory_of(1), endpoints=(HOST_1,)),),
    )
    broker = image.apply(result.records).brokers[NodeId(4)]
    assert (broker.is_fenced, broker.directories, broker.rack) == (True, (NEW_DIRECTORY,), "r")
    assert broker.endpoints[0].host == "new"


def test_directory_that_asks_again_gets_the_same_answer() -> None:
    image = make_image()
    first = join(image)
    again = join(image.apply(first.records), cluster_id="here")
    assert again.response == first.response
    assert again.records == ()


def test_two_directories_get_two_ids() -> None:
    image = make_image()
    after = image.apply(join(image).records)
    assert join(after, b"other directory ").response.node_id == 5


def test_first_id_of_an_empty_cluster_is_one_behind_its_voters() -> None:
    assert join(ClusterImage()).response.node_id == 2


def test_id_that_partitions_still_name_is_not_free() -> None:
    image = make_image(make_partition((1, 7)), brokers=[make_broker(1), make_broker(2)])
    assert join(image).response.node_id == 8


def test_registered_broker_is_known_by_its_directory() -> None:
    assert join(make_image(), directory_of(2)).response.node_id == TWO


@pytest.mark.parametrize(
    ("directory_id", "cluster_id", "error"),
    [
        (NEW_DIRECTORY, "elsewhere", ErrorCode.INCONSISTENT_CLUSTER_ID),
        (bytes(16), None, ErrorCode.INVALID_REGISTRATION),
    ],
)
def test_stranger_is_refused(directory_id: bytes, cluster_id: str | None, error: ErrorCode) -> None:
    result = join(make_image(), directory_id, cluster_id=cluster_id)
    assert (result.records, result.response.error_code) == ((), error)
    assert result.response.error_message


def test_cluster_may_not_grow_without_end() -> None:
    many = make_image(brokers=[make_broker(1)])
    for number in range(1, BROKERS_PER_CLUSTER_MAX):
        many = many.apply(join(many, number.to_bytes(16, "big")).records)
    assert len(many.brokers) == BROKERS_PER_CLUSTER_MAX
    assert join(many).response.error_code == ErrorCode.POLICY_VIOLATION


def test_directory_that_was_told_its_id_gets_it() -> None:
    assert join(make_image(), node_id=17).response.node_id == 17


@pytest.mark.parametrize("voters", [VOTERS, {NodeId(2): directory_of(9)}])
def test_id_of_another_directory_is_refused(voters: dict[NodeId, bytes]) -> None:
    image = make_image(brokers=[make_broker(1)]) if TWO in voters else make_image()
    request = JoinClusterRequest(directory_id=NEW_DIRECTORY, node_id=2)
    result = join_cluster(image, request, cluster_id="here", voters=voters, next_offset=100)
    assert result.records == ()
    assert result.response.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert "the next free id" in (result.response.error_message or "")


def test_directory_keeps_its_id_whatever_it_is_told() -> None:
    result = join(make_image(), directory_of(2), node_id=3)
    assert (result.records, result.response.error_code) == ((), ErrorCode.INVALID_REGISTRATION)
