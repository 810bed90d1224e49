"""A broker that does nothing: it shows how much load the benchmark itself can make.

Topics exist as soon as they are named, batches are dropped unread, and every produce request is answered with
success. Run it to see an address; it ends when its standard input does.
"""

import asyncio
import struct
import sys
from typing import Any

from penstock.model.ids import TopicId
from penstock.wire.api_keys import ApiKey, advertised_versions
from penstock.wire.framing import RequestHeader, decode_request, decode_request_header, encode_response
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from penstock.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from penstock.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from penstock.wire.schema import Struct

PARTITIONS = 4
TOPIC_ID = TopicId(bytes(range(16)))
BUFFER_BYTES = 4 * 1024 * 1024
_LENGTH = struct.Struct(">i")
_API_KEY = struct.Struct(">h")


class Sink(asyncio.BufferedProtocol):
    """One connection. Of a produce request only the correlation id is read."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._filled = 0
        self._acknowledgement = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        position, answers = 0, bytearray()
        while position + 4 <= self._filled:
            (length,) = _LENGTH.unpack_from(self._buffer, position)
            following = position + 4 + length
            if following > self._filled:
                break
            answers += self._answer(self._view[position + 4 : following])
            position = following
        self._buffer[: self._filled - position] = self._buffer[position : self._filled]
        self._filled -= position
        if answers and self._transport is not None:
            self._transport.write(answers)

    def _answer(self, frame: memoryview) -> bytes | bytearray:
        if _API_KEY.unpack_from(frame)[0] == ApiKey.PRODUCE and self._acknowledgement:
            self._acknowledgement[4:8] = frame[4:8]
            return self._acknowledgement
        header = decode_request_header(frame)
        message = decode_request(header.api_key, header.api_version, frame, header.body_position)
        answer = encode_response(
            header.api_key, header.api_version, header.correlation_id, self._reply(header, message)
        )
        if header.api_key == ApiKey.PRODUCE:
            self._acknowledgement = bytearray(answer)
        return answer

    def _reply(self, header: RequestHeader, message: Any) -> Struct:
        match header.api_key:
            case ApiKey.API_VERSIONS:
                return ApiVersionsResponse(api_keys=advertised_versions())
            case ApiKey.METADATA:
                return self._metadata(message.topics[0].name)
            case ApiKey.CREATE_TOPICS:
                made = CreatableTopicResult(name=message.topics[0].name, topic_id=TOPIC_ID)
                return CreateTopicsResponse(topics=(made,))
            case ApiKey.DELETE_TOPICS:
                return DeleteTopicsResponse(responses=(DeletableTopicResult(name=message.topics[0].name),))
            case ApiKey.LIST_OFFSETS:
                return _offsets(message.topics[0])
            case _:
                return _produced(message.topic_data[0])

    def _metadata(self, topic: str) -> MetadataResponse:
        partitions = tuple(
            MetadataResponsePartition(partition_index=index, leader_id=1) for index in range(PARTITIONS)
        )
        return MetadataResponse(
            brokers=(MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self._port),),
            topics=(MetadataResponseTopic(name=topic, topic_id=TOPIC_ID, partitions=partitions),),
        )


def _offsets(topic: Any) -> ListOffsetsResponse:
    partitions = tuple(
        ListOffsetsPartitionResponse(partition_index=partition.partition_index, offset=0)
        for partition in topic.partitions
    )
    return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name=topic.name, partitions=partitions),))


def _produced(topic: Any) -> ProduceResponse:
    outcome = PartitionProduceResponse(index=topic.partition_data[0].index)
    answered = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=(outcome,))
    return ProduceResponse(responses=(answered,))


async def main() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    port = 0
    server = await loop.create_server(lambda: Sink(port), "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    print(f"127.0.0.1:{port}", flush=True)
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
