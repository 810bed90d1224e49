"""From a frame to the handler of its API, and from what it returns to a reply.

There are two kinds of handler. Most are ``async def handle(broker, request, header) -> response``. The two
hot ones, Produce and Fetch, are ``def handle(broker, request, reply)``: they fill the reply themselves, now
or later, and so cost no task.

What cannot be answered ends the connection, as Kafka does it: an unknown API or version, a body that is no
request, and while the broker starts, whatever other brokers have no need of. An error nobody expected does
too, and is logged in full; the peer learns nothing.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.broker.apis import fetch, produce
from penstock.broker.metrics.response_errors import response_errors
from penstock.broker.reply import Reply
from penstock.model.errors import DecodeError
from penstock.wire.api_keys import APIS, ApiKey, is_served
from penstock.wire.framing import (
    RequestHeader,
    decode_request,
    encode_response,
    encode_unknown_api_versions,
    is_unknown_api_versions,
)
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

AwaitedHandler = Callable[["Broker", Any, RequestHeader], Awaitable[Struct]]
DirectHandler = Callable[["Broker", Any, Reply], None]

DIRECT: Mapping[int, DirectHandler] = {ApiKey.PRODUCE: produce.handle, ApiKey.FETCH: fetch.handle}


@cache
def awaited_handler(key: ApiKey) -> AwaitedHandler:
    """The handler of an API; its module, named after the API, is loaded when it is first asked for."""
    module = import_module(f"penstock.broker.apis.{key.name.lower()}")
    handler: AwaitedHandler = module.handle
    return handler


class Dispatch:
    """Serves requests for the connections."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        """Decode a request and have it handled."""
        if not is_served(header.api_key, header.api_version):
            self._refuse(header, reply)
            return
        if not self._broker.is_ready and not _is_for_peers(ApiKey(header.api_key)):
            reply.close_connection("the broker is starting")
            return
        try:
            request = decode_request(header.api_key, header.api_version, frame, header.body_position)
        except DecodeError as error:
            reply.close_connection(f"{APIS[ApiKey(header.api_key)].name} v{header.api_version}: {error}")
            return
        direct = DIRECT.get(header.api_key)
        if direct is None:
            self._broker.tasks.start(self._handle(header, request, reply), name=f"api {header.api_key}")
            return
        try:
            direct(self._broker, request, reply)
        except Exception:
            self._give_up(header, reply)

    async def _handle(self, header: RequestHeader, request: Struct, reply: Reply) -> None:
        key = ApiKey(header.api_key)
        try:
            caller = header._replace(
                client_host=reply.client.host,
                when_connection_is_lost=reply.when_connection_is_lost,
                client=reply.client,
            )
            response = await awaited_handler(key)(self._broker, request, caller)
            for error_code in response_errors(response):
                reply.traffic.failed(key, error_code)
            reply.send([encode_response(key, header.api_version, header.correlation_id, response)])
        except Exception:
            self._give_up(header, reply)

    def _refuse(self, header: RequestHeader, reply: Reply) -> None:
        if is_unknown_api_versions(header):
            reply.send([encode_unknown_api_versions(header.correlation_id)])
        else:
            reply.close_connection(f"API {header.api_key} version {header.api_version} is not served")

    def _give_up(self, header: RequestHeader, reply: Reply) -> None:
        logger.exception(
            "request failed",
            extra={"api": header.api_key, "version": header.api_version, "client": header.client_id},
        )
        reply.close_connection("an error in the broker")


def _is_for_peers(key: ApiKey) -> bool:
    """Whether brokers ask this of each other, also of one that is starting: it may wait for their answer."""
    return APIS[key].is_private or key is ApiKey.API_VERSIONS
