"""A small schema registry over HTTP on the loopback, for tests: the REST API that clients and we use.

It gives the same schema the same id everywhere, as the real one does, and does not check compatibility.
Like the real one it takes Protobuf schemas as text or as a descriptor in base 64, and gives them as a
descriptor if asked for ``format=serialized``.
"""

import base64
import hashlib
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class Refusal(Exception):
    def __init__(self, code: int, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status or code // 100


@dataclass
class StandIn:
    """What the registry holds, and how it behaves."""

    url: str = ""
    schemas: list[dict[str, Any]] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    authorization: str | None = None
    failures_left: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, body: Any) -> Any:
        parts = urlsplit(path)
        words = [unquote(word) for word in parts.path.strip("/").split("/")]
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match method, words:
            case "GET", ["schemas", "ids", number]:
                return self._given(self._by_id(int(number)), query)
            case "GET", ["schemas", "guids", guid]:
                return self._given(self._by_guid(guid), query)
            case "GET", ["subjects", subject, "versions", version]:
                return self._given(self._version(subject, version), query)
            case "POST", ["subjects", subject, "versions"]:
                return self.register(subject, body)
            case "POST", ["subjects", subject]:
                return self._found(subject, body)
        raise Refusal(40400, f"nothing at {method} {path}")

    def register(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        """Add a schema under a subject; the answer has its id."""
        schema_id = self._id_of(body)
        if schema_id is None:
            self.schemas.append(_kept(body))
            schema_id = len(self.schemas)
        versions = self.subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return self._answer(subject, versions.index(schema_id) + 1)

    def _id_of(self, body: dict[str, Any]) -> int | None:
        kept = _kept(body)
        return next((number for number, known in enumerate(self.schemas, 1) if known == kept), None)

    def _by_id(self, schema_id: int) -> dict[str, Any]:
        if not 1 <= schema_id <= len(self.schemas):
            raise Refusal(40403, f"Schema {schema_id} not found")
        schema = self.schemas[schema_id - 1]
        return {**schema, "guid": _guid(schema)}

    def _by_guid(self, guid: str) -> dict[str, Any]:
        for schema in self.schemas:
            if _guid(schema) == guid:
                return {**schema, "guid": guid}
        raise Refusal(40403, f"Schema {guid} not found")

    def _version(self, subject: str, version: str) -> dict[str, Any]:
        versions = self.subjects.get(subject)
        if versions is None:
            raise Refusal(40401, f"Subject '{subject}' not found.")
        number = len(versions) if version in ("latest", "-1") else int(version)
        if not 1 <= number <= len(versions):
            raise Refusal(40402, f"Version {version} not found.")
        return self._answer(subject, number)

    def _found(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        schema_id = self._id_of(body)
        if subject not in self.subjects:
            raise Refusal(40401, f"Subject '{subject}' not found.")
        if schema_id not in self.subjects[subject]:
            raise Refusal(40403, "Schema not found")
        return self._answer(subject, self.subjects[subject].index(schema_id) + 1)

    def _answer(self, subject: str, version: int) -> dict[str, Any]:
        schema_id = self.subjects[subject][version - 1]
        return {**self._by_id(schema_id), "id": schema_id, "subject": subject, "version": version}

    def _given(self, answer: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
        if answer.get("schemaType") != "PROTOBUF" or query.get("format") != "serialized":
            return answer
        return {**answer, "schema": self._serialized(answer)}

    def _serialized(self, answer: dict[str, Any]) -> str:
        text = answer["schema"]
        if "syntax" not in text:
            return str(text)
        imports = {
            reference["name"]: self._version(reference["subject"], str(reference["version"]))["schema"]
            for reference in answer.get("references", ())
        }
        return base64.b64encode(compile_proto(text, imports)).decode()


def compile_proto(text: str, imports: dict[str, str] | None = None) -> bytes:
    """The descriptor of one file, as protoc makes it; protoc is loaded where it is needed only."""
    from tests.schemas.protobuf.protoc import compiled

    return compiled(text, imports).SerializeToString()


def _kept(body: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"schema": body["schema"]}
    if body.get("schemaType", "AVRO") != "AVRO":
        kept["schemaType"] = body["schemaType"]
    if body.get("references"):
        kept["references"] = body["references"]
    return kept


def _guid(schema: dict[str, Any]) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(json.dumps(schema, sort_keys=True).encode()).digest()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: StandIn

    def do_GET(self) -> None:
        self._serve("GET", None)

    def do_POST(self) -> None:
        self._serve("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _serve(self, method: str, body: Any) -> None:
        registry = self.registry
        with registry.lock:
            registry.requests.append(f"{method} {self.path}")
            try:
                self._check()
                status, answer = 200, registry.answer(method, self.path, body)
            except Refusal as refusal:
                status, answer = refusal.status, {"error_code": refusal.code, "message": str(refusal)}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _check(self) -> None:
        if self.registry.failures_left:
            self.registry.failures_left -= 1
            raise Refusal(50302, "try later", 503)
        if self.registry.authorization not in (None, self.headers.get("Authorization")):
            raise Refusal(40101, "Unauthorized", 401)

    def log_message(self, *_: Any) -> None:
        """Tests look at ``requests``."""


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """A registry that serves until the block ends."""
    registry = StandIn()
    handler = type("Handler", (_Handler,), {"registry": registry})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join(timeout=5)
        server.server_close()
