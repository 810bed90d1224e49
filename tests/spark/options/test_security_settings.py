"""Options of TLS and logins, put together: what they say, what is refused, and what is never told."""

from pathlib import Path

import pytest
from tests.wire_client.security.certificates import KEY_PASSWORD, Authority

from penstock.spark.options.definition import EVERYWHERE, OptionError
from penstock.spark.options.parsing import parse_options
from penstock.spark.options.security_settings import security_settings
from penstock.wire_client.security.security import Login, Mechanism, Security, SecurityProtocol

MODULES = "org.apache.kafka.common.security"
SCRAM_LINE = f'{MODULES}.scram.ScramLoginModule required username="anna" password="se\\"s=a;me";'
PLAIN_LINE = f"kafkashaded.{MODULES}.plain.PlainLoginModule required\n username='anna' password=sesame ;"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def of(**given: str) -> Security:
    return security_settings(parse_options({f"kafka.{_dotted(n)}": v for n, v in given.items()}, EVERYWHERE))


def _dotted(name: str) -> str:
    return name.replace("_", ".")


def refusal(**given: str) -> str:
    with pytest.raises(OptionError) as caught:
        of(**given)
    return str(caught.value)


def test_nothing_is_plaintext() -> None:
    assert of() == Security()


@pytest.mark.parametrize("name", ["sasl_mechanism", "sasl_mechanisms"])
def test_name_and_password_are_those_of_librdkafka(name: str) -> None:
    made = of(
        security_protocol="sasl_plaintext",
        sasl_username="anna",
        sasl_password=" s ",
        **{name: "scram-sha-256"},
    )
    assert made.protocol is SecurityProtocol.SASL_PLAINTEXT
    assert made.login == Login(mechanism=Mechanism.SCRAM_SHA_256, username="anna", password=" s ")


@pytest.mark.parametrize(
    ("line", "mechanism", "password"),
    [(SCRAM_LINE, "SCRAM-SHA-512", 'se"s=a;me'), (PLAIN_LINE, "PLAIN", "sesame")],
)
def test_name_and_password_are_those_of_java(line: str, mechanism: str, password: str) -> None:
    made = of(security_protocol="SASL_SSL", sasl_mechanism=mechanism, sasl_jaas_config=line)
    assert made.login == Login(mechanism=Mechanism(mechanism), username="anna", password=password)
    assert made.trusted is None
    assert made.checks_host_name


def test_certificates_are_read_from_files_and_texts_alike(authority: Authority) -> None:
    chain, key = authority.sign("client", is_encrypted=True)
    both = authority.directory / "both.pem"
    both.write_text(key.read_text() + chain.read_text())
    trusted = authority.certificate.read_text()
    by_file = of(
        security_protocol="SSL",
        ssl_ca_location=str(authority.certificate),
        ssl_certificate_location=str(chain),
        ssl_key_location=str(key),
        ssl_key_password=KEY_PASSWORD,
    )
    by_text = of(
        security_protocol="SSL",
        ssl_truststore_type="PEM",
        ssl_truststore_certificates=trusted,
        ssl_keystore_type="pem",
        ssl_keystore_certificate_chain=chain.read_text(),
        ssl_keystore_key=key.read_text(),
        ssl_key_password=KEY_PASSWORD,
    )
    by_store = of(
        security_protocol="SSL",
        ssl_truststore_type="PEM",
        ssl_truststore_location=str(authority.certificate),
        ssl_keystore_type="PEM",
        ssl_keystore_location=str(both),
        ssl_key_password=KEY_PASSWORD,
    )
    assert by_file.trusted == by_store.trusted == trusted
    assert by_file.certificate is not None
    assert by_text.certificate is not None
    assert by_file.certificate.key == by_text.certificate.key == key.read_text()
    assert by_store.certificate is not None
    assert by_store.certificate.chain == both.read_text()


@pytest.mark.parametrize(("word", "is_checked"), [("https", True), ("", False), ("none", False)])
def test_host_names_are_not_checked_where_that_is_said(word: str, is_checked: bool) -> None:
    made = of(security_protocol="SSL", ssl_endpoint_identification_algorithm=word)
    assert made.checks_host_name is is_checked


SASL = {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}

REFUSED: list[tuple[dict[str, str], str]] = [
    ({"sasl_mechanism": "PLAIN"}, "no effect with kafka.security.protocol=PLAINTEXT: say SASL_SSL"),
    ({"ssl_ca_location": "x.pem"}, "no effect with kafka.security.protocol=PLAINTEXT: say SSL or SASL_SSL"),
    ({"security_protocol": "SSL", "sasl_password": "sesame", "sasl_username": "a"}, "no effect with"),
    ({"security_protocol": "SASL_SSL"}, "kafka.sasl.mechanism is missing"),
    ({**SASL, "sasl_mechanisms": "SCRAM-SHA-256"}, "differ"),
    (SASL, "needs kafka.sasl.username and kafka.sasl.password"),
    ({**SASL, "sasl_username": "anna"}, "needs kafka.sasl.username and kafka.sasl.password"),
    ({**SASL, "sasl_username": "a", "sasl_jaas_config": PLAIN_LINE}, "give one or the others"),
    ({**SASL, "sasl_username": "a\0b", "sasl_password": "sesame"}, "has a zero in it"),
    (
        {**SASL, "sasl_jaas_config": SCRAM_LINE},
        "ScramLoginModule, which is not for kafka.sasl.mechanism=PLAIN",
    ),
    ({**SASL, "sasl_jaas_config": PLAIN_LINE.replace(";", "")}, "is not of the form"),
    ({**SASL, "sasl_jaas_config": "x.PlainLoginModule required username='a';"}, "has no password"),
    ({**SASL, "sasl_jaas_config": "x.PlainLoginModule required 'sesame';"}, 'is not name="value"'),
    ({**SASL, "sasl_jaas_config": PLAIN_LINE.replace(";", "tokenauth=true;")}, "delegation token"),
    ({**SASL, "sasl_jaas_config": "x.Krb5LoginModule required sesame=1;"}, "only PlainLoginModule and Scram"),
    ({"security_protocol": "SSL", "ssl_ca_location": "nowhere.pem"}, "cannot be read here: no such file"),
    ({"security_protocol": "SSL", "ssl_truststore_location": "x"}, "without kafka.ssl.truststore.type=PEM"),
    ({"security_protocol": "SSL", "ssl_truststore_type": "JKS"}, "keytool -list -rfc"),
    ({"security_protocol": "SSL", "ssl_truststore_type": "PEM"}, "without what it is the type of"),
    ({"security_protocol": "SSL", "ssl_keystore_type": "PKCS12"}, "openssl pkcs12"),
    ({"security_protocol": "SSL", "ssl_truststore_password": "sesame"}, "Certificates in PEM have none"),
    ({"security_protocol": "SSL", "ssl_keystore_key": "sesame"}, "without kafka.ssl.keystore.type=PEM"),
    (
        {"security_protocol": "SSL", "ssl_keystore_type": "PEM", "ssl_keystore_key": "ENCRYPTED sesame"},
        "kafka.ssl.keystore.key is given without its certificate",
    ),
    (
        {"security_protocol": "SSL", "ssl_keystore_type": "PEM", "ssl_keystore_key": "sesame"},
        "Spark shows such options in its plans",
    ),
    ({"security_protocol": "SSL", "ssl_key_password": "sesame"}, "without a key"),
    ({"security_protocol": "SSL", "ssl_cipher_suites": "x"}, "leave it out"),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI"}, "GSSAPI is not spoken here"),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "It takes PLAIN or SCRAM-SHA-256"),
    (
        {"security_protocol": "SSL", "ssl_truststore_type": "PEM", "ssl_truststore_certificates": "sesame"},
        "not in PEM",
    ),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_does_not_go_together_is_refused(given: dict[str, str], said: str) -> None:
    message = refusal(**given)
    assert said in message
    assert "kafka." in message
    assert "sesame" not in message


def test_two_ways_to_say_the_same_exclude_each_other(authority: Authority) -> None:
    pem, text = str(authority.certificate), authority.certificate.read_text()
    more = {"ssl_truststore_type": "PEM", "ssl_truststore_certificates": text}
    assert "exclude each other" in refusal(security_protocol="SSL", ssl_ca_location=pem, **more)
    store = {"ssl_keystore_type": "PEM", "ssl_keystore_location": pem, "ssl_keystore_key": "x"}
    assert "exclude each other" in refusal(security_protocol="SSL", **store)


def test_file_that_is_no_pem_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "truststore.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    assert "which is not in PEM" in refusal(security_protocol="SSL", ssl_ca_location=str(store))


def test_key_of_another_certificate_is_refused(authority: Authority) -> None:
    chain, _ = authority.sign("one")
    _, key = authority.sign("other")
    message = refusal(security_protocol="SSL", ssl_certificate_location=str(chain), ssl_key_location=str(key))
    assert "belong together" in message
