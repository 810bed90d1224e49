"""What a plan begins with: brokers that know each other, settings for all of them, topics."""

import asyncio
from collections.abc import Mapping, Sequence

from penstock.metadata.resources import ALL_BROKERS
from penstock.model.error_codes import ErrorCode
from penstock.sim.cluster.plan import ClusterPlan, TopicPlan
from penstock.sim.workloads.admin_requests import (
    ALTER_CONFIGS_VERSION,
    CREATE_VERSION,
    alter_configs_request,
)
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.connection import Unanswered
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

RETRY_SECONDS = 0.1


async def set_up(client: Client, plan: ClusterPlan) -> None:
    """Wait for all brokers, then make everything, however often that has to be asked."""
    await _wait_for_brokers(client, sum(node.is_early for node in plan.nodes))
    if plan.cluster_configs:
        await _configure(client, plan.cluster_configs)
    await _create_topics(client, plan.topics)


async def _wait_for_brokers(client: Client, count: int) -> None:
    while True:
        try:
            await client.refresh()
        except Unanswered:
            pass
        else:
            if len(client.node_ids) == count:
                return
        await asyncio.sleep(RETRY_SECONDS)


async def _configure(client: Client, configs: Mapping[str, str]) -> None:
    request = alter_configs_request(ALL_BROKERS.type, ALL_BROKERS.name, configs)
    while True:
        try:
            answer = await client.ask_controller(request, ALTER_CONFIGS_VERSION)
        except Unanswered:
            answer = None
        if answer is not None and answer.responses[0].error_code == ErrorCode.NONE:
            return
        await asyncio.sleep(RETRY_SECONDS)


async def _create_topics(client: Client, topics: Sequence[TopicPlan]) -> None:
    wanted = tuple(
        CreatableTopic(
            name=topic.name,
            num_partitions=topic.partition_count,
            replication_factor=topic.replication_factor,
            configs=tuple(
                CreatableTopicConfig(name=name, value=text) for name, text in topic.configs.items()
            ),
        )
        for topic in topics
    )
    done = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
    while True:
        try:
            answer = await client.ask_controller(CreateTopicsRequest(topics=wanted), CREATE_VERSION)
        except Unanswered:
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if all(result.error_code in done for result in answer.topics):
            return
        await asyncio.sleep(RETRY_SECONDS)
