"""Asking a registry's REST API: JSON over HTTP with a deadline and a few tries; errors name what was asked.

Only what may pass is tried again: no answer, 429 and 5xx. Every server of the address is tried in each round.
"""

import base64
import functools
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from penstock.model.errors import PenstockError
from penstock.spark.registry.address import Registry
from penstock.spark.registry.errors import (
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaRefusedError,
)

ANSWER_BYTES_MAX = 64 * 1024 * 1024
FIRST_PAUSE_SECONDS = 0.2
PAUSE_SECONDS_MAX = 2.0
CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"

_MAY_PASS = {429, 500, 502, 503, 504}
_NOT_FOUND = range(40400, 40500)
"""The registry's own codes. A bare 404 is from a server that is no registry: it says nothing of schemas."""
_REFUSED = {409, 422}


def ask(registry: Registry, path: str, body: dict[str, Any] | None = None) -> Any:
    """The JSON answer to a GET, or to a POST if there is a body."""
    failure = ""
    for server in _tries(registry):
        try:
            return _ask_server(registry, server + path, body)
        except urllib.error.HTTPError as error:
            code, failure = _refusal(error)
            if error.code not in _MAY_PASS:
                raise _final(error.code, code)(_sentence(server, path, body, failure)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            failure = str(error) or type(error).__name__
    tried = ", ".join(registry.servers())
    raise RegistryUnavailableError(
        _sentence(tried, path, body, f"{failure} (tried {registry.attempts} times); is it running?")
    )


def _final(status: int, code: int) -> type[PenstockError]:
    if code in _NOT_FOUND:
        return SchemaNotFoundError
    return SchemaRefusedError if status in _REFUSED else RegistryUnavailableError


def _tries(registry: Registry) -> Iterator[str]:
    pause = FIRST_PAUSE_SECONDS
    for attempt in range(registry.attempts):
        if attempt:
            time.sleep(pause)
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
        yield from registry.servers()


def _ask_server(registry: Registry, address: str, body: dict[str, Any] | None) -> Any:
    request = urllib.request.Request(
        address, data=None if body is None else json.dumps(body).encode(), headers=_headers(registry)
    )
    with _opener(registry).open(request, timeout=registry.timeout_seconds) as answer:
        data = answer.read(ANSWER_BYTES_MAX + 1)
    if len(data) > ANSWER_BYTES_MAX:
        raise ValueError(f"the answer is longer than {ANSWER_BYTES_MAX} bytes")
    return json.loads(data)


def _headers(registry: Registry) -> dict[str, str]:
    headers = {"Accept": f"{CONTENT_TYPE}, application/json", "Content-Type": CONTENT_TYPE}
    user_and_password = registry.user_and_password()
    if registry.bearer_token is not None:
        headers["Authorization"] = f"Bearer {registry.bearer_token}"
    elif user_and_password is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(user_and_password.encode()).decode()}"
    return headers


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A registry answers itself; following would hand its password to wherever it points."""

    def redirect_request(self, *_: Any) -> None:
        return None


@functools.lru_cache(maxsize=16)
def _opener(registry: Registry) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=registry.ca_file)
    if registry.certificate_file is not None:
        context.load_cert_chain(registry.certificate_file, registry.key_file)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirects())


def _refusal(error: urllib.error.HTTPError) -> tuple[int, str]:
    """The registry's own code and words, if it is a registry."""
    with error:
        text = error.read(4096).decode(errors="replace")
    try:
        answer = json.loads(text)
        code, message = int(answer["error_code"]), str(answer["message"])
    except (ValueError, KeyError, TypeError):
        return 0, f"{error.code} {error.reason}, and no word of a registry; is this its address?"
    return code, f"{error.code} {message} (code {code})"


def _sentence(server: str, path: str, body: dict[str, Any] | None, failure: str) -> str:
    verb = "GET" if body is None else "POST"
    return f"Registry {server}: {verb} {path}: {failure}"
