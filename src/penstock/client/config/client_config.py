"""What every client is told: where the brokers are, who it is, how long it waits."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypedDict

from penstock.client.choices import SecurityProtocol
from penstock.client.config.rules import (
    flag,
    kafka_settings,
    one_of,
    optional,
    servers,
    setting,
    text,
    whole,
)
from penstock.client.errors import ConfigurationError

DEFAULT_BOOTSTRAP_SERVERS = "127.0.0.1:9092"
BOOTSTRAP_VARIABLE = "PENSTOCK_BOOTSTRAP_SERVER"
"""The command line heeds the same one."""


class ClientSettings(TypedDict, total=False):
    """The fields of ``ClientConfig`` as keyword arguments."""

    bootstrap_servers: str | Sequence[str]
    client_id: str
    request_timeout_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    metadata_max_age_ms: int
    security_protocol: SecurityProtocol | str
    sasl_mechanism: str | None
    sasl_username: str | None
    sasl_password: str | None
    ssl_ca_location: str | None
    ssl_certificate_location: str | None
    ssl_key_location: str | None
    ssl_verify: bool
    kafka: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Settings that all clients share."""

    bootstrap_servers: str | Sequence[str] = setting(
        DEFAULT_BOOTSTRAP_SERVERS, servers, kafka="bootstrap.servers", variable=BOOTSTRAP_VARIABLE
    )
    """Some brokers of the cluster; the others are found through them. Unless given, those that
    PENSTOCK_BOOTSTRAP_SERVER names."""

    client_id: str = setting("penstock", text, kafka="client.id")
    """What brokers call this client in logs and quotas."""

    request_timeout_ms: int = setting(30_000, whole(1, 900_000))
    """How long one call waits for its answer, retries included, unless it is given a timeout of its own."""

    retry_backoff_ms: int = setting(100, whole(1, 300_000), kafka="retry.backoff.ms")
    """The pause before the first retry; it doubles with each."""

    retry_backoff_max_ms: int = setting(1_000, whole(1, 300_000), kafka="retry.backoff.max.ms")
    """The longest pause before a retry."""

    metadata_max_age_ms: int = setting(300_000, whole(1, 86_400_000))
    """After so long, topics and partitions are asked for again."""

    security_protocol: SecurityProtocol | str = setting(
        SecurityProtocol.PLAINTEXT, one_of(SecurityProtocol), kafka="security.protocol"
    )
    """What connections are wrapped in."""

    sasl_mechanism: str | None = setting(None, optional(text), kafka="sasl.mechanism")
    """Such as SCRAM-SHA-256; needs a security protocol with SASL."""

    sasl_username: str | None = setting(None, optional(text), kafka="sasl.username")
    """Who this client is."""

    sasl_password: str | None = setting(None, optional(text), kafka="sasl.password", is_secret=True)
    """How it proves that."""

    ssl_ca_location: str | None = setting(None, optional(text), kafka="ssl.ca.location")
    """A file of certificates to believe."""

    ssl_certificate_location: str | None = setting(None, optional(text), kafka="ssl.certificate.location")
    """This client's own certificate."""

    ssl_key_location: str | None = setting(None, optional(text), kafka="ssl.key.location")
    """The key of that certificate."""

    ssl_verify: bool = setting(True, flag, kafka="enable.ssl.certificate.verification")
    """Whether brokers must prove who they are."""

    kafka: Mapping[str, Any] = setting({}, kafka_settings)
    """More settings of librdkafka by their own names; they win over all others."""

    def __post_init__(self) -> None:
        for each in fields(self):
            checked = each.metadata["rule"](each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, checked)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse settings that make no sense together; overridden by those that have such."""

    @classmethod
    def of(cls, config: Self | None, settings: Mapping[str, Any]) -> Self:
        """A config from a config, keyword arguments, or a config that some of them change."""
        if config is not None and not isinstance(config, cls):
            raise ConfigurationError(f"Give a {cls.__name__} or keyword arguments, not {config!r}")
        known = [each.name for each in fields(cls)]
        for name in settings:
            if name not in known:
                raise _unknown_setting(name, known)
        return cls(**settings) if config is None else replace(config, **settings)

    def librdkafka(self) -> dict[str, Any]:
        """What librdkafka is told."""
        told: dict[str, Any] = {"topic.metadata.refresh.interval.ms": self.metadata_max_age_ms}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.metadata["kafka"] and value is not None:
                told[each.metadata["kafka"]] = value
        return told | self._more() | dict(self.kafka)

    def _more(self) -> dict[str, Any]:
        """Settings of librdkafka that are not one field each; overridden by those that have such."""
        return {}


def _unknown_setting(name: str, known: Sequence[str]) -> ConfigurationError:
    near = difflib.get_close_matches(name.replace(".", "_"), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}."
    return ConfigurationError(
        f"{name} is not a setting: {hint} Settings of librdkafka go into kafka={{...}}", setting=name
    )
