"""The transaction coordinator in a broker: shards of ``__transaction_state``, and whoever needs their word.

Leaders ask here before the first batch of a transaction enters a log, and the group coordinator before the
first offsets of one do (KIP-890). Both may be on another broker one day; that is why the question is the
very request that brokers send each other, AddPartitionsToTxn.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.broker.coordination.coordinator import Coordinator
from penstock.broker.coordination.groups import offsets_topic
from penstock.broker.coordination.internal_topic import InternalTopic, partition_count
from penstock.broker.coordination.shard_host import HostSurroundings, ShardHost
from penstock.broker.coordination.shard_kind import Shard, ShardKind
from penstock.broker.transaction_orders import TransactionOrders
from penstock.broker.transactional_appends import Question, is_open, is_word_needed, verifications_of
from penstock.config.broker_config import BrokerConfig
from penstock.coordinator.events import TopicsDeleted
from penstock.coordinator.patterns import compile_pattern
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import TopicPartition
from penstock.model.names import TRANSACTIONS_TOPIC
from penstock.storage.producer_state import stale_epoch
from penstock.transactions.responses import by_topic, refusal
from penstock.transactions.settings import TransactionSettings
from penstock.transactions.shard import TransactionShard
from penstock.transactions.unavailable import refuse_after_failed_append, refuse_while_loading
from penstock.transactions.verification import is_offset_verify_only, offset_error
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

WORD_SECONDS_MAX = 10.0
"""How long a batch waits for the coordinator before its producer is told to try again."""

CONCURRENT_RETRIES = 5
CONCURRENT_RETRY_SECONDS = 0.02
"""A producer of the second protocol begins its next transaction while the last one is being completed, which
takes moments: it is spared the way back and forth."""

_FROM_LEADER = RequestHeader(ApiKey.ADD_PARTITIONS_TO_TXN, 5, 0, None, 0)


class TransactionCoordinator(Coordinator):
    """Of the transactional ids whose partitions this broker leads."""

    def __init__(self, broker: "Broker", around: HostSurroundings) -> None:
        self.orders = TransactionOrders(broker)
        kind = ShardKind(
            topic=TRANSACTIONS_TOPIC,
            make_shard=self._make_shard,
            refuse=refusal,
            refuse_while_loading=refuse_while_loading,
            refuse_after_failed_append=refuse_after_failed_append,
            carry_out=self.orders.carry_out,
            refresh=lambda shard: None,
            follow=_follow,
        )
        super().__init__(broker, kind, around, lambda: transactions_topic(broker.config))

    async def word_on(
        self, question: Question, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        """Whether these partitions are in a transaction, which is to be made so unless it is only asked."""
        try:
            async with asyncio.timeout(WORD_SECONDS_MAX):
                for _ in range(CONCURRENT_RETRIES):
                    words = await self._word_on(question, partitions)
                    if question.is_verify_only or ErrorCode.CONCURRENT_TRANSACTIONS not in words.values():
                        return words
                    await asyncio.sleep(CONCURRENT_RETRY_SECONDS)
                return words
        except TimeoutError:
            return dict.fromkeys(partitions, ErrorCode.REQUEST_TIMED_OUT)

    async def verify_offsets(self, request: TxnOffsetCommitRequest, api_version: int) -> ErrorCode:
        """Whether offsets of a group may be written in a transaction, and why not.

        To be asked before every TxnOffsetCommit; the answer NONE is worth nothing after the next await.
        """
        producer_id, epoch = request.producer_id, request.producer_epoch
        if producer_id < 0 or epoch < 0:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        try:
            partition = self._broker.groups.host_for(request.group_id).partition
            producer = partition.log.producers.get(producer_id)
            if producer is not None and epoch < producer.epoch:
                raise stale_epoch(producer, epoch)
            is_only_asked = is_offset_verify_only(api_version)
            if is_open(partition, producer_id, epoch) or not is_word_needed(
                self._broker, is_verify_only=is_only_asked
            ):
                return ErrorCode.NONE
            verifications = verifications_of(partition)
            guard = verifications.begin(producer_id, epoch)
            name = TopicPartition(partition.topic, partition.index)
            question = Question(request.transactional_id, producer_id, epoch, is_only_asked)
            word = (await self.word_on(question, [name]))[name]
            if word is not ErrorCode.NONE:
                return offset_error(word, api_version)
            if not is_open(partition, producer_id, epoch):
                verifications.check_offsets(producer_id, epoch, guard, offset_commit_version=api_version)
        except ApiError as error:
            return error.code
        return ErrorCode.NONE

    async def _word_on(
        self, question: Question, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=question.transactional_id,
            producer_id=question.producer_id,
            producer_epoch=question.producer_epoch,
            verify_only=question.is_verify_only,
            topics=tuple(
                AddPartitionsToTxnTopic(name=topic, partitions=numbers)
                for topic, numbers in by_topic(partitions)
            ),
        )
        request = AddPartitionsToTxnRequest(transactions=(transaction,))
        response = await self.ask(question.transactional_id, request, _FROM_LEADER)
        if not isinstance(response, AddPartitionsToTxnResponse):
            raise InvariantError(f"the coordinator answered a leader with {response}")
        (result,) = response.results_by_transaction
        return {
            TopicPartition(topic.name, each.partition_index): ErrorCode(each.partition_error_code)
            for topic in result.topic_results
            for each in topic.results_by_partition
        }

    def _make_shard(self, leader_epoch: int) -> Shard:
        broker = self._broker
        return TransactionShard(
            coordinator_epoch=leader_epoch,
            settings=transaction_settings(
                broker.config,
                offsets_partition_count=partition_count(broker.image, offsets_topic(broker.config)),
            ),
            new_producer_id=broker.producer_ids.next_nowait,
            compile_pattern=compile_pattern,
        )


def transactions_topic(config: BrokerConfig) -> InternalTopic:
    """How ``__transaction_state`` is made."""
    return InternalTopic(
        name=TRANSACTIONS_TOPIC,
        partition_count=config.integer("transaction.state.log.num.partitions"),
        replication_factor=config.integer("transaction.state.log.replication.factor"),
        configs={
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(config.integer("transaction.state.log.min.isr")),
            "segment.bytes": str(config.integer("transaction.state.log.segment.bytes")),
            "unclean.leader.election.enable": "false",
        },
    )


def transaction_settings(config: BrokerConfig, *, offsets_partition_count: int) -> TransactionSettings:
    """What the configuration says about transactions."""
    return TransactionSettings(
        timeout_max_ms=config.integer("transaction.max.timeout.ms"),
        expiration_ms=config.integer("transactional.id.expiration.ms"),
        offsets_partition_count=offsets_partition_count,
    )


def _follow(host: ShardHost, before: ClusterImage, image: ClusterImage) -> None:
    """What is gone needs no marker; a shard that loads finds out by itself."""
    if image.topics is before.topics:
        return
    gone = [name for name in before.topics if name not in image.topics]
    if gone:
        host.tell(TopicsDeleted(topics=gone))
