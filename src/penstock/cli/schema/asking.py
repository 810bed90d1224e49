"""Asking a registry over HTTP, and its refusals as failures of commands."""

import http.client
import json
import os
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

import typer

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.unanswered import reason_of

DEFAULT_REGISTRY = "http://127.0.0.1:8080"
TOKEN_VARIABLE = "PENSTOCK_GATEWAY_TOKEN"
ANSWER_SECONDS_MAX = 120.0
ANSWER_BYTES_MAX = 256 * 1024 * 1024
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"

RegistryUrl = Annotated[
    str,
    typer.Option(
        "--registry",
        metavar="URL",
        envvar="PENSTOCK_REGISTRY_URL",
        help="Where the registry is; a gateway's token is taken from PENSTOCK_GATEWAY_TOKEN.",
    ),
]

_HINTS: Mapping[int, str] = {
    401: f"Set {TOKEN_VARIABLE} to the gateway's token, or write https://user:password@host.",
    403: f"Set {TOKEN_VARIABLE} to the gateway's token, or write https://user:password@host.",
    40401: "See what there is with `penstock schema list`.",
    40402: "See which versions there are with `penstock schema list`.",
    40405: "Delete it without --permanent first.",
    409: "See what is in the way with `penstock schema check FILE --subject SUBJECT`.",
    40901: "See what is in the way with `penstock schema check FILE --subject SUBJECT`.",
    42205: "See the mode with `penstock schema mode [SUBJECT]`.",
}


class RegistryRefusal(CommandFailed):
    """A registry understood and said no; ``error_code`` says why."""

    def __init__(self, message: str, *, error_code: int) -> None:
        super().__init__(message, hint=_HINTS.get(error_code, ""))
        self.error_code = error_code


class RegistryClient:
    """One registry."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise CommandFailed(
                f"The address of a registry is like {DEFAULT_REGISTRY}, not {url!r}.", code=ExitCode.USAGE
            )
        self.url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")
        self._headers = {"Accept": f"{MEDIA_TYPE}, application/json", "Content-Type": MEDIA_TYPE}
        if parts.username is not None:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(secret.encode()).decode()}"
        elif token := os.environ.get(TOKEN_VARIABLE):
            self._headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, **query: object) -> Any:
        """The JSON of an answer."""
        return json.loads(self.text("GET", _with_query(path, query)))

    def post(self, path: str, body: object, **query: object) -> Any:
        """The JSON of the answer to a body."""
        return json.loads(self.text("POST", _with_query(path, query), body))

    def put(self, path: str, body: object, **query: object) -> Any:
        """The JSON of the answer to a change."""
        return json.loads(self.text("PUT", _with_query(path, query), body))

    def delete(self, path: str, **query: object) -> Any:
        """The JSON of the answer to a deletion."""
        return json.loads(self.text("DELETE", _with_query(path, query)))

    def text(self, method: str, path: str, body: object = None) -> str:
        """An answer as it is; a refusal raises RegistryRefusal."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=self._headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as answer:
                return _read(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise CommandFailed(
                f"No registry answers at {self.url}: {reason_of(error)}.",
                hint="Start one with `penstock gateway`, or say where it is with --registry.",
            ) from error


def subject_path(subject: str, *more: object) -> str:
    """The path of something of a subject, whatever signs its name has."""
    return "/".join([f"/subjects/{quote(subject, safe='')}", *map(str, more)])


def quoted(subject: str | None) -> str:
    """A subject at the end of a path; nothing for the whole registry."""
    return "" if subject is None else f"/{quote(subject, safe='')}"


def _with_query(path: str, query: Mapping[str, object]) -> str:
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in query.items()
        if value is not None
    }
    return f"{path}?{urlencode(given)}" if given else path


def _read(answer: http.client.HTTPResponse) -> str:
    data = answer.read(ANSWER_BYTES_MAX + 1)
    if len(data) > ANSWER_BYTES_MAX:
        raise CommandFailed(f"The registry's answer is longer than {ANSWER_BYTES_MAX >> 20} MiB.")
    return data.decode()


def _refusal(error: urllib.error.HTTPError) -> RegistryRefusal:
    text = error.read(65_536).decode(errors="replace")
    try:
        told = json.loads(text)
        code, message = int(told["error_code"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        code, message = error.code, f"The registry answered {error.code} {error.reason}; is this its address?"
    return RegistryRefusal(message if message.endswith((".", "]", "?")) else f"{message}.", error_code=code)
