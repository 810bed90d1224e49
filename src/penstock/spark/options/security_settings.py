"""Whom to believe and how to log in, put together from options; what does not go together is refused.

Files are read here, once and on the machine where the query is made, so that tasks need none of them.
Messages name options and files, and never what is in them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.model.errors import UsageError
from penstock.spark.options.definition import OptionError
from penstock.spark.options.jaas import JaasError, parse_jaas
from penstock.wire_client.security.security import (
    PLAINTEXT,
    ClientCertificate,
    Login,
    Mechanism,
    Security,
    SecurityProtocol,
)

_PEM_BYTES_MAX = 4 * 1024 * 1024
"""Of a file: all authorities that a system believes take a twentieth of it."""

_LOGIN = (
    "kafka.sasl.mechanism",
    "kafka.sasl.mechanisms",
    "kafka.sasl.jaas.config",
    "kafka.sasl.username",
    "kafka.sasl.password",
)
_TRUST = ("kafka.ssl.ca.location", "kafka.ssl.truststore.location", "kafka.ssl.truststore.certificates")
_CHAIN = (
    "kafka.ssl.certificate.location",
    "kafka.ssl.keystore.location",
    "kafka.ssl.keystore.certificate.chain",
)
_KEY = ("kafka.ssl.key.location", "kafka.ssl.keystore.key")
_TYPES = ("kafka.ssl.truststore.type", "kafka.ssl.keystore.type")
_ENCRYPTION = (*_TRUST, *_CHAIN, *_KEY, *_TYPES, "kafka.ssl.key.password")


def security_settings(values: Mapping[str, Any]) -> Security:
    """What connections are to be wrapped in, and who we are."""
    protocol = SecurityProtocol(values["kafka.security.protocol"])
    _refuse_useless(values, protocol)
    if protocol is SecurityProtocol.PLAINTEXT:
        return PLAINTEXT
    try:
        security = Security(
            protocol=protocol,
            trusted=_trusted(values),
            certificate=_certificate(values),
            checks_host_name=values["kafka.ssl.endpoint.identification.algorithm"],
            login=_login(values) if protocol.wants_login else None,
        )
        if protocol.is_encrypted:
            _check_certificates(security)
    except OptionError:
        raise
    except UsageError as error:
        raise OptionError(f"Options kafka.ssl and kafka.sasl: {error}") from error
    return security


def _refuse_useless(values: Mapping[str, Any], protocol: SecurityProtocol) -> None:
    """What was given to make a connection safe must not be ignored in silence."""
    without_login = "" if protocol.wants_login else _first(values, _LOGIN)
    without_encryption = "" if protocol.is_encrypted else _first(values, _ENCRYPTION)
    for name, fitting in ((without_login, "SASL_SSL"), (without_encryption, "SSL or SASL_SSL")):
        if name:
            raise OptionError(
                f"Option {name} has no effect with kafka.security.protocol={protocol}: say {fitting}, or "
                "leave it out."
            )


def _login(values: Mapping[str, Any]) -> Login:
    mechanism = _mechanism(values)
    jaas, username, password = (
        values.get(f"kafka.sasl.{name}") for name in ("jaas.config", "username", "password")
    )
    if jaas is not None:
        if username is not None or password is not None:
            raise OptionError(
                "Option kafka.sasl.jaas.config names who logs in, and so do kafka.sasl.username and "
                "kafka.sasl.password: give one or the others."
            )
        try:
            return parse_jaas(jaas, mechanism)
        except JaasError as error:
            raise OptionError(f"Option kafka.sasl.jaas.config {error}.") from None
    if username is None or password is None:
        raise OptionError(
            f"Logging in with {mechanism} needs kafka.sasl.username and kafka.sasl.password, or "
            "kafka.sasl.jaas.config with both."
        )
    return Login(mechanism=mechanism, username=username, password=password)


def _mechanism(values: Mapping[str, Any]) -> Mechanism:
    names = [name for name in ("kafka.sasl.mechanism", "kafka.sasl.mechanisms") if name in values]
    words = {values[name] for name in names}
    if len(words) > 1:
        raise OptionError("Options kafka.sasl.mechanism and kafka.sasl.mechanisms differ: give one of them.")
    if not words:
        raise OptionError(
            f"Option kafka.sasl.mechanism is missing: say {' or '.join(Mechanism)}, as the broker has it."
        )
    return Mechanism(words.pop())


def _trusted(values: Mapping[str, Any]) -> str | None:
    name = _only(values, _TRUST)
    _check_store(values, "truststore", name)
    if not name:
        return None
    value: str = values[name]
    return value if name.endswith(".certificates") else _read(name, value)


def _certificate(values: Mapping[str, Any]) -> ClientCertificate | None:
    chain_name, key_name = _only(values, _CHAIN), _only(values, _KEY)
    _check_store(values, "keystore", next((n for n in (chain_name, key_name) if "keystore" in n), ""))
    chain = _pem(values, chain_name, text_suffix=".chain")
    if chain_name == "kafka.ssl.keystore.location":
        if key_name:
            raise OptionError(f"Options {chain_name} and {key_name} exclude each other: give one of them.")
        key: str | None = chain
    else:
        key = _pem(values, key_name, text_suffix=".key")
        _refuse_shown_key(key_name, key)
    if chain is None and key is None:
        if "kafka.ssl.key.password" in values:
            raise OptionError("Option kafka.ssl.key.password is given without a key.")
        return None
    if chain is None or key is None:
        given, missing = (key_name, "its certificate") if chain is None else (chain_name, "its key")
        raise OptionError(f"Option {given} is given without {missing}: a broker wants both.")
    return ClientCertificate(chain=chain, key=key, key_password=values.get("kafka.ssl.key.password"))


def _refuse_shown_key(name: str, key: str | None) -> None:
    """Spark hides options in its plans that look like passwords; keys do not, so they must need one."""
    if name.endswith("keystore.key") and "ENCRYPTED" not in (key or ""):
        raise OptionError(
            f"Option {name} has a key that needs no password, and Spark shows such options in its plans: "
            "give a file as kafka.ssl.key.location, or an encrypted key and kafka.ssl.key.password."
        )


def _check_store(values: Mapping[str, Any], store: str, name: str) -> None:
    """Java's clients take JKS for granted, so a store in PEM is said to be one."""
    kind = f"kafka.ssl.{store}.type"
    if store in name and kind not in values:
        raise OptionError(
            f"Option {name} is given without {kind}=PEM. Where it is in PEM, say so; Java's JKS and PKCS12 "
            "cannot be read here."
        )
    if kind in values and store not in name:
        raise OptionError(f"Option {kind} is given without what it is the type of.")


def _pem(values: Mapping[str, Any], name: str, *, text_suffix: str) -> str | None:
    if not name:
        return None
    value: str = values[name]
    return value if name.endswith(text_suffix) else _read(name, value)


def _only(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Which of these was given, if any; two of them say the same thing twice."""
    given = [name for name in names if name in values]
    if len(given) > 1:
        raise OptionError(f"Options {' and '.join(given)} exclude each other: give one of them.")
    return given[0] if given else ""


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if name in values), "")


def _read(name: str, path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_PEM_BYTES_MAX + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OptionError(f"Option {name} is {path!r}, which cannot be read here: {reason}.") from error
    if len(data) > _PEM_BYTES_MAX or b"-----BEGIN " not in data:
        raise OptionError(f"Option {name} is {path!r}, which is not in PEM.")
    return data.decode("ascii", "ignore")


def _check_certificates(security: Security) -> None:
    """Have them read once, so that a query fails when it is made and not in its tasks."""
    from penstock.wire_client.security.tls import context_for

    context_for(security)
