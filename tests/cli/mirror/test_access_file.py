"""Files that say how a cluster is reached, as Kafka's own tools take them, and what is refused of them."""

import sys
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.wire_client.security.certificates import Authority

from penstock.cli.mirror.access_file import access_to
from penstock.model.errors import UsageError
from penstock.wire_client.security.security import Login, Mechanism, SecurityProtocol

SECRET = 'sesame, = "open"'
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
LOGIN = f"""\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={MODULE} required \\
    username="anna" password='{SECRET}';
"""


def written(directory: Path, text: str, name: str = "client.properties") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_cluster_without_a_file_is_reached_in_plain() -> None:
    access = access_to("east:9092,east:9093", None, option="--from")

    assert access.spark_options == {"kafka.bootstrap.servers": "east:9092,east:9093"}
    assert access.librdkafka == {}


def test_file_of_kafkas_tools_is_taken_as_it_is(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={authority.certificate}\n"
    servers = "bootstrap.servers=east:9093\nrequest.timeout.ms=5000\n"

    access = access_to("east:9093", written(tmp_path, LOGIN + trust + servers, "admin.conf"), option="--from")

    assert access.security.protocol is SecurityProtocol.SASL_SSL
    assert access.security.trusted == authority.certificate.read_text()
    assert access.security.login == Login(mechanism=Mechanism.SCRAM_SHA_512, username="anna", password=SECRET)
    assert access.librdkafka["sasl.password"] == SECRET
    assert access.spark_options["kafka.bootstrap.servers"] == "east:9093"
    assert access.spark_options["kafka.request.timeout.ms"] == "5000"
    assert SECRET not in repr(access)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("security.protocl=SSL", "There is no option 'security.protocl'. Did you mean security.protocol?"),
        ("security.protocol=TLS", "Option security.protocol is 'TLS'. It takes PLAINTEXT or SSL"),
        (LOGIN.replace("SASL_SSL", "SSL"), "Option sasl.mechanism has no effect with security.protocol=SSL"),
        (LOGIN.replace("sasl.mechanism=SCRAM-SHA-512\n", ""), "Option sasl.mechanism is missing"),
        (LOGIN + "sasl.password=guess", "Option sasl.jaas.config names who logs in, and so do sasl.username"),
        (LOGIN.replace("';", "'"), "Option sasl.jaas.config is not of the form"),
        (LOGIN + "ssl.truststore.password=guess", "Option ssl.truststore.password cannot be used."),
        (LOGIN + "ssl.truststore.location=kafka.jks", "ssl.truststore.location is given without ssl.trust"),
        (LOGIN + "ssl.ca.location=/no/kafka.ssl/ca", "ssl.ca.location is '/no/kafka.ssl/ca', which cannot"),
        (LOGIN + "isolation.level=read_committed", "Option isolation.level does not say how to reach"),
        (LOGIN + "bootstrap.servers=west:9093", "bootstrap.servers names other brokers than --from"),
        (LOGIN + "sasl.mechanism=PLAIN", "sasl.mechanism is given twice."),
        ("sasl.password=\\ugues", "malformed escape"),
    ],
)
def test_what_is_wrong_is_said_by_the_names_of_the_file_and_without_secrets(
    tmp_path: Path, text: str, complaint: str
) -> None:
    file = written(tmp_path, text)

    with pytest.raises(UsageError) as caught:
        access_to("east:9093", file, option="--from")

    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert complaint in message
    assert not [word for word in (SECRET, "sesame", "gues") if word in message]


@pytest.mark.parametrize("command", ["run", "status"])
@pytest.mark.parametrize("side", ["from", "to"])
def test_wrong_file_ends_the_command_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    side: str,
) -> None:
    terminal = Terminal("127.0.0.1:1", capsys, monkeypatch)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    file = written(tmp_path, LOGIN.replace("SASL_SSL", "PLAINTEXT"))
    topics = ("--topic", "orders") if command == "run" else ()
    addresses = ("--from", "127.0.0.1:1", "--to", "127.0.0.1:2")

    wrong = terminal.run("mirror", command, *addresses, *topics, f"--{side}-config", str(file))
    missing = terminal.run("mirror", command, *addresses, *topics, f"--{side}-config", f"{file}.old")

    assert (wrong.code, missing.code) == (2, 2)
    assert f"Error: {file}: Option sasl.mechanism has no effect" in wrong.errors
    assert f"{file}.old: cannot be read: No such file" in missing.errors
    assert "sesame" not in wrong.output + wrong.errors


@pytest.mark.parametrize("command", ["run", "status"])
def test_help_has_examples_with_files(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    shown = Terminal("127.0.0.1:1", capsys, monkeypatch).must("mirror", command, "--help").output

    assert f"penstock mirror {command} --from kafka:9093 --from-config kafka.properties" in shown
