"""The transaction coordinator in a broker: shards of ``__transaction_state``, and whoever needs their word.

Leaders ask here before the first batch of a transaction enters a log, and the group coordinator before the
first offsets of one do (KIP-890). The shard may be on another broker; that is why the question is the very
request that brokers send each other, AddPartitionsToTxn.
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
from penstock.broker.transaction_words import VERSION, RemoteWords, Words, words_in
from penstock.broker.transactional_appends import Question, is_open, is_word_needed, verifications_of
from penstock.config.broker_config import BrokerConfig
from penstock.coordinator.events import TopicsDeleted
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicId, TopicPartition
from penstock.model.names import TRANSACTIONS_TOPIC
from penstock.model.patterns import compile_pattern
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
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

WORD_SECONDS_MAX = 10.0
"""How long a batch waits for the coordinator before its producer is told to try again."""

TRIES_MAX = 6
RETRY_SECONDS = 0.02
"""A producer of the second protocol begins its next transaction while the last one is being completed, which
takes moments; so may the news that another broker is the coordinator. It is spared the way back and forth."""

_ELSEWHERE = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.NETWORK_EXCEPTION})
"""Answers after which it is worth looking again who the coordinator is."""

_FROM_LEADER = RequestHeader(ApiKey.ADD_PARTITIONS_TO_TXN, VERSION, 0, None, 0)


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
            leave=self.orders.stop,
        )
        self._remote = RemoteWords(broker)
        super().__init__(broker, kind, around, lambda: transactions_topic(broker.config))

    async def word_on(self, question: Question, partitions: Sequence[TopicPartition]) -> Words:
        """Whether these partitions are in a transaction, which is to be made so unless it is only asked."""
        try:
            async with asyncio.timeout(WORD_SECONDS_MAX):
                words = await self._word_on(question, partitions)
                for _ in range(1, TRIES_MAX):
                    if not _is_worth_repeating(question, words):
                        break
                    await asyncio.sleep(RETRY_SECONDS)
                    words = await self._word_on(question, partitions)
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
            host = self._broker.groups.host_for(request.group_id)
            partition = host.partition
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
            if not host.is_in_office:
                return ErrorCode.NOT_COORDINATOR
            if not is_open(partition, producer_id, epoch):
                verifications.check_offsets(producer_id, epoch, guard, offset_commit_version=api_version)
        except ApiError as error:
            return error.code
        return ErrorCode.NONE

    async def _word_on(self, question: Question, partitions: Sequence[TopicPartition]) -> Words:
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
        index = self.index_for(question.transactional_id)
        leader = self.leader_of(index)
        if leader is None or leader == self._broker.node_id or self.is_here(index):
            request = AddPartitionsToTxnRequest(transactions=(transaction,))
            return words_in(await self.ask(question.transactional_id, request, _FROM_LEADER), transaction)
        return await self._remote.ask(leader, transaction)

    def follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """Also the batches that wait for a coordinator: their partitions may be led by others now."""
        super().follow(before, image)
        self._broker.transactional_appends.follow()

    def _make_shard(self, leader_epoch: int) -> Shard:
        broker = self._broker
        return TransactionShard(
            coordinator_epoch=leader_epoch,
            settings=transaction_settings(broker.config),
            new_producer_id=broker.producer_ids.next_nowait,
            compile_pattern=compile_pattern,
            count_offsets_partitions=lambda: partition_count(broker.image, offsets_topic(broker.config)),
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


def transaction_settings(config: BrokerConfig) -> TransactionSettings:
    """What the configuration says about transactions."""
    return TransactionSettings(
        timeout_max_ms=config.integer("transaction.max.timeout.ms"),
        expiration_ms=config.integer("transactional.id.expiration.ms"),
    )


def _follow(host: ShardHost, image: ClusterImage, gone: Mapping[str, TopicId]) -> None:
    """What is gone needs no marker; a shard that loads finds out by itself.

    A topic that was made anew gets one: the transaction may have written to either.
    """
    without = {name: topic_id for name, topic_id in gone.items() if name not in image.topics}
    if without:
        host.tell(TopicsDeleted(topics=without))


def _is_worth_repeating(question: Question, words: Words) -> bool:
    codes = frozenset(words.values())
    is_being_completed = ErrorCode.CONCURRENT_TRANSACTIONS in codes and not question.is_verify_only
    return is_being_completed or not codes.isdisjoint(_ELSEWHERE)
