import pytest

from penstock.metadata.image import ClusterImage
from penstock.metadata.producer_ids import allocate_block, allocate_producer_ids
from penstock.metadata.records import ProducerIdsRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)


def test_blocks_follow_one_another(image: ClusterImage) -> None:
    first = allocate_producer_ids(image, broker_id=NodeId(1), broker_epoch=11)
    assert first.response == range(0, 1000)
    assert first.records == (ProducerIdsRecord(broker_id=1, broker_epoch=11, next_producer_id=1000),)
    second = allocate_producer_ids(image.apply(first.records), broker_id=NodeId(2), broker_epoch=12)
    assert second.response == range(1000, 2000)


@pytest.mark.parametrize(
    ("broker_id", "epoch", "code"),
    [(9, 0, ErrorCode.BROKER_ID_NOT_REGISTERED), (1, 10, ErrorCode.STALE_BROKER_EPOCH)],
)
def test_stranger_and_ghost_get_no_ids(
    image: ClusterImage, broker_id: int, epoch: int, code: ErrorCode
) -> None:
    with pytest.raises(ApiError) as caught:
        allocate_producer_ids(image, broker_id=NodeId(broker_id), broker_epoch=epoch)
    assert caught.value.code is code


def test_ids_do_not_wrap_around(image: ClusterImage) -> None:
    last = image.apply([ProducerIdsRecord(broker_id=1, next_producer_id=2**63 - 500)])
    with pytest.raises(ApiError, match="All producer ids"):
        allocate_producer_ids(last, broker_id=NodeId(1), broker_epoch=11)


def test_block_over_the_wire_is_the_next_one_or_says_why_not(image: ClusterImage) -> None:
    result = allocate_block(image, AllocateProducerIdsRequest(broker_id=1, broker_epoch=11))
    assert result.response == AllocateProducerIdsResponse(producer_id_start=0, producer_id_len=1000)
    again = allocate_block(
        image.apply(result.records), AllocateProducerIdsRequest(broker_id=2, broker_epoch=12)
    )
    assert again.response.producer_id_start == 1000
    stale = allocate_block(image, AllocateProducerIdsRequest(broker_id=1, broker_epoch=10))
    assert (stale.records, stale.response.error_code) == ((), ErrorCode.STALE_BROKER_EPOCH)
