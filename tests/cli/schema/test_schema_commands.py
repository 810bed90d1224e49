"""``penstock schema`` as people type it, on a real registry."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings
from penstock.testing import Broker

FIRST = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}'
SECOND = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},'
    '{"name":"note","type":"string","default":""}]}'
)
UNREADABLE = SECOND.replace(',"default":""', "").replace("note", "price")


class Ran(NamedTuple):
    """How a command ended."""

    code: object
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Schema:
    """Runs ``penstock schema`` on one registry."""

    def __init__(self, url: str, terminal: Terminal) -> None:
        self.url = url
        self.terminal = terminal

    def __call__(self, *words: object, text: str = "") -> Ran:
        return Ran(*self.terminal.run("schema", *map(str, words), "--registry", self.url, stdin=text))

    def at(self, url: str) -> "Schema":
        return Schema(url, self.terminal)


@pytest.fixture(scope="module")
def registry() -> Iterator[GatewayServer]:
    with Broker() as broker:
        settings = GatewaySettings(bootstrap_servers=broker.bootstrap_servers, port=0)
        with GatewayServer(settings).start() as server:
            yield server


@pytest.fixture
def schema(
    registry: GatewayServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Schema:
    return Schema(registry.url, Terminal("127.0.0.1:1", capsys, monkeypatch))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"first": FIRST, "second": SECOND, "unreadable": UNREADABLE}
    for name, text in texts.items():
        (tmp_path / f"{name}.avsc").write_text(text)
    return {name: tmp_path / f"{name}.avsc" for name in texts}


@pytest.fixture
def subject(schema: Schema, files: dict[str, Path], unique: UniqueName) -> str:
    """With two versions."""
    name = unique("orders")
    for file in ("first", "second"):
        assert schema("register", name, files[file]).code == 0
    return name


def test_registered_schema_is_listed_and_shown(schema: Schema, subject: str) -> None:
    (listed,) = schema("list", "--prefix", subject, "--json").json
    assert (listed["subject"], listed["type"], listed["versions"]) == (subject, "AVRO", [1, 2])
    line = schema("list", "--prefix", subject).stdout.splitlines()[1]
    assert line.split() == [subject, "avro", "1,", "2", str(listed["latest_id"])]
    shown = schema("show", subject, "--version", "1").stdout
    assert shown.startswith(f"{subject} version 1, id ")
    assert '"name": "id"' in shown
    assert schema("show", subject, "--json").json["version"] == 2


def test_check_names_the_field_and_ends_with_1(schema: Schema, subject: str, files: dict[str, Path]) -> None:
    bad = schema("check", files["unreadable"], "--subject", subject)
    assert (bad.code, "price" in bad.stdout) == (1, True)
    good = schema("check", files["second"], "--subject", subject, "--json")
    assert (good.code, good.json["is_compatible"]) == (0, True)


def test_incompatible_schema_is_refused_with_what_to_do(
    schema: Schema, subject: str, files: dict[str, Path]
) -> None:
    refused = schema("register", subject, files["unreadable"])
    assert refused.code == 1
    assert "price" in refused.stderr
    assert "schema check" in refused.stderr


def test_diff_shows_what_was_added(schema: Schema, subject: str) -> None:
    lines = schema("diff", subject).stdout.splitlines()
    assert any(line.startswith("+") and '"note"' in line for line in lines)
    assert schema("diff", subject, "--from", "1", "--to", "1").stdout == "The two versions say the same.\n"
    assert schema("diff", subject, "--to", "1").code == 1
    assert schema("diff", subject, "--json").json["is_compatible"] is True


def test_settings_and_modes_are_changed_and_taken_back(schema: Schema, subject: str) -> None:
    assert schema("config", subject, "--set", "compatibility=full").stdout == "compatibility: FULL\n"
    assert schema("config", subject, "--delete", "--json").json == {"compatibilityLevel": "BACKWARD"}
    assert schema("mode", subject, "--set", "readonly").stdout == "mode: READONLY\n"
    assert schema("delete", subject).code == 1
    assert schema("mode", subject, "--delete").stdout == "mode: READWRITE\n"
    assert schema("mode", subject, "--set", "READONLY", "--delete").code == 2


def test_deleting_is_soft_first_and_then_for_good(schema: Schema, subject: str) -> None:
    assert "first" in schema("delete", subject, "--permanent").stderr
    assert schema("delete", subject, "--version", "1").stdout == f"{subject}: deleted, version 1\n"
    (listed,) = schema("list", "--prefix", subject, "--deleted", "--json").json
    assert listed["deleted"] == [1]
    assert schema("delete", subject, "--json").json["versions"] == [2]
    assert schema("delete", subject, "--permanent").stdout == f"{subject}: deleted for good, version 1, 2\n"


def test_schema_comes_from_standard_input_if_its_type_is_told(schema: Schema, unique: UniqueName) -> None:
    assert schema("register", unique("s"), "-", text='"int"').code == 2
    assert schema("register", unique("s"), "-", "--type", "avro", text='"int"').code == 0


def test_reference_is_given_by_name_subject_and_version(
    schema: Schema, unique: UniqueName, tmp_path: Path
) -> None:
    line, order = unique("line"), unique("order")
    proto = tmp_path / "order.proto"
    schema("register", line, "-", "--type", "protobuf", text='syntax = "proto3"; message Line {}')
    proto.write_text('syntax = "proto3"; import "line.proto"; message Order { Line line = 1; }')
    assert schema("register", order, proto).code == 1
    assert schema("register", order, proto, "--reference", f"line.proto={line}:1").code == 0
    assert f"uses line.proto: {line} version 1" in schema("show", order).stdout
    assert schema("register", order, proto, "--reference", "line.proto").code == 2


def test_export_goes_into_an_empty_registry_and_back_out_the_same(
    schema: Schema, subject: str, tmp_path: Path
) -> None:
    schema("delete", subject, "--version", "1")
    schema("config", subject, "--set", "compatibility=NONE", "--set", "normalize=true")
    whole, again = tmp_path / "whole.jsonl", tmp_path / "again.jsonl"
    assert "versions" in schema("export", "--output", whole).stdout
    with Broker() as broker:
        settings = GatewaySettings(bootstrap_servers=broker.bootstrap_servers, port=0)
        with GatewayServer(settings).start() as server:
            other = schema.at(server.url)
            assert other("import", whole, "--dry-run").stdout.endswith("would be added, 0 there already\n")
            assert other("list", "--json").json == []
            assert other("import", whole).code == 0
            assert other("import", whole, "--json").json["added"] == 0
            other("export", "--output", again)
            assert other("show", subject, "--json").json["id"] == schema("show", subject, "--json").json["id"]
    assert whole.read_text() == again.read_text()


@pytest.fixture
def plain_registry(registry: GatewayServer) -> Iterator[str]:
    """The same registry as others show theirs: without anything of ours beside the common API."""

    class Door(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = 404, b'{"error_code": 404, "message": "HTTP 404 Not Found"}'
            if not self.path.startswith("/penstock"):
                status, body = self._asked()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def _asked(self) -> tuple[int, bytes]:
            try:
                with urllib.request.urlopen(registry.url + self.path, timeout=10) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read()

        def log_message(self, *_: object) -> None:
            """Not on the terminal, which tests look at."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_any_registry_can_be_exported(
    schema: Schema, subject: str, plain_registry: str, tmp_path: Path
) -> None:
    schema("config", subject, "--set", "compatibility=FULL")
    schema("mode", subject, "--set", "READONLY")
    own, plain = tmp_path / "own.jsonl", tmp_path / "plain.jsonl"
    schema("export", "--output", own)
    assert schema.at(plain_registry)("export", "--output", plain).code == 0
    entries = [
        {json.dumps(each, sort_keys=True) for each in read(file) if each.get("subject") is not None}
        for file in (own, plain)
    ]
    assert entries[0] <= entries[1]
    assert {each["type"] for each in read(plain)} == {"registry", "schema", "config", "mode"}


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_import_of_something_else_is_refused(schema: Schema, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for text in ("", "{", '{"type":"schema"}\n'):
        file.write_text(text)
        assert "no export" in schema("import", file).stderr


def test_import_that_would_take_an_id_is_refused_as_a_whole(schema: Schema, tmp_path: Path) -> None:
    entry = {"type": "schema", "version": 1, "id": 1, "schema": '"bytes"', "deleted": False}
    lines = [{"type": "registry", "format": 1, "highestIds": {}}, {**entry, "subject": "taken", "id": 1}]
    first = {**entry, "subject": "fine", "id": 900, "schema": '"double"'}
    schema("register", "holder", "-", "--type", "avro", text='"float"')
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in (lines[0], first, lines[1])))
    refused = schema("import", file)
    assert (refused.code, "another schema" in refused.stderr) == (1, True)
    assert schema("show", "fine").code == 1


def test_registry_that_is_not_there_is_named(schema: Schema, closed_port: int) -> None:
    ran = schema.at(f"http://127.0.0.1:{closed_port}")("list")
    assert ran.code == 1
    assert f"127.0.0.1:{closed_port}" in ran.stderr
    assert "penstock gateway" in ran.stderr
    assert schema.at("ftp://x")("list").code == 2
