"""Making the topics that a plan begins with."""

import asyncio
from collections.abc import Sequence

from penstock.model.error_codes import ErrorCode
from penstock.sim.cluster.plan import TopicPlan
from penstock.sim.workloads.administrator import CREATE_VERSION
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.connection import Unanswered
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

RETRY_SECONDS = 0.1


async def create_topics(client: Client, topics: Sequence[TopicPlan]) -> None:
    """Create all, however often that has to be asked."""
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
