"""Kafka's properties of TLS and of logging in, with ``kafka.`` in front, by Java's names and librdkafka's.

What Java alone can do is refused, with what to write instead. Which of these go together is said in
``security_settings``.
"""

from penstock.spark.options.definition import EVERYWHERE, KAFKA_PREFIX, Effect, Kind, Option
from penstock.spark.options.kinds import ANYTHING, SECRET, TEXT
from penstock.wire_client.security.security import Mechanism, SecurityProtocol

_INSTEAD_OF_A_TRUSTSTORE = (
    "make PEM of it with keytool -list -rfc -keystore truststore.jks > ca.pem and give kafka.ssl.ca.location"
)
_INSTEAD_OF_A_KEYSTORE = (
    "make PEM of it with openssl pkcs12 -in keystore.p12 -out client.pem (a JKS first becomes PKCS12 by "
    "keytool -importkeystore -deststoretype PKCS12) and give it as kafka.ssl.certificate.location and "
    "kafka.ssl.key.location"
)
_NO_PASSWORD = "Certificates in PEM have none, and stores of Java cannot be read here: {}."


def _word_of(words: type[Mechanism] | type[SecurityProtocol]) -> Kind:
    known = tuple(str(word) for word in words)

    def parse(text: str) -> str:
        word = text.strip().upper()
        if word in ("GSSAPI", "OAUTHBEARER"):
            raise ValueError(f"{word} is not spoken here; ask for a listener with SCRAM or PLAIN")
        if word not in known:
            raise ValueError(text)
        return word

    return Kind(name=" | ".join(known), parse=parse, expected=" or ".join(known))


def _pem_only(instead: str) -> Kind:
    def parse(text: str) -> str:
        word = text.strip().upper()
        if word in ("JKS", "PKCS12"):
            raise ValueError(f"stores of Java cannot be read here; {instead}")
        if word != "PEM":
            raise ValueError(text)
        return word

    return Kind(name="PEM", parse=parse, expected="PEM")


def _host_name_check(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("https", "", "none"):
        raise ValueError(text)
    return word == "https"


_HOST_NAME_CHECK = Kind(
    name="https | empty", parse=_host_name_check, expected="https, or nothing to turn the check off"
)


def _option(name: str, kind: Kind, meaning: str, *, default: str | None = None) -> Option:
    return Option(
        name=KAFKA_PREFIX + name,
        kind=kind,
        default=default,
        uses=EVERYWHERE,
        meaning=meaning,
        is_secret=kind is SECRET,
    )


def _refused(name: str, meaning: str) -> Option:
    return Option(
        name=KAFKA_PREFIX + name,
        kind=ANYTHING,
        default=None,
        uses=EVERYWHERE,
        meaning=meaning,
        effect=Effect.REFUSED,
    )


SECURITY_OPTIONS = (
    _option(
        "security.protocol",
        _word_of(SecurityProtocol),
        "What connections are wrapped in: SSL is TLS, SASL a login.",
        default="PLAINTEXT",
    ),
    _option("sasl.mechanism", _word_of(Mechanism), "How to log in; must be given with SASL."),
    _option("sasl.mechanisms", _word_of(Mechanism), "The same, as librdkafka calls it."),
    _option(
        "sasl.jaas.config",
        SECRET,
        "Name and password as Java's clients want them: PlainLoginModule or ScramLoginModule required "
        'username="..." password="...";.',
    ),
    _option("sasl.username", TEXT, "The name to log in with, instead of sasl.jaas.config."),
    _option("sasl.password", SECRET, "The password, instead of sasl.jaas.config."),
    _option(
        "ssl.ca.location",
        TEXT,
        "A file in PEM with the certificates to believe; by default those that this system believes.",
    ),
    _option("ssl.certificate.location", TEXT, "A file in PEM with this client's certificate and its chain."),
    _option("ssl.key.location", TEXT, "A file in PEM with the key of that certificate."),
    _option("ssl.key.password", SECRET, "The password of the key, if it is encrypted."),
    _option(
        "ssl.truststore.type",
        _pem_only(_INSTEAD_OF_A_TRUSTSTORE),
        "Only PEM, and to be said, since Java's clients take JKS for granted.",
    ),
    _option("ssl.truststore.location", TEXT, "The same as ssl.ca.location."),
    _option("ssl.truststore.certificates", TEXT, "The certificates to believe themselves, in PEM."),
    _option(
        "ssl.keystore.type",
        _pem_only(_INSTEAD_OF_A_KEYSTORE),
        "Only PEM, and to be said, since Java's clients take JKS for granted.",
    ),
    _option("ssl.keystore.location", TEXT, "A file in PEM with this client's key, certificate and chain."),
    _option("ssl.keystore.certificate.chain", TEXT, "The certificate and its chain themselves, in PEM."),
    _option("ssl.keystore.key", SECRET, "The key itself, in PEM; encrypted, since Spark shows it in plans."),
    _option(
        "ssl.endpoint.identification.algorithm",
        _HOST_NAME_CHECK,
        "Whether a broker's certificate must be for its host; empty turns that off.",
        default="https",
    ),
    _refused("ssl.truststore.password", _NO_PASSWORD.format(_INSTEAD_OF_A_TRUSTSTORE)),
    _refused("ssl.keystore.password", _NO_PASSWORD.format(_INSTEAD_OF_A_KEYSTORE)),
)

REFUSED_PREFIXES = {
    "kafka.ssl.": "TLS is spoken as this system has it, from 1.2 on, with certificates in PEM: leave it out.",
    "kafka.sasl.": "PLAIN and SCRAM are spoken, which want a name and a password only: leave it out.",
}
"""For what is in no table."""
