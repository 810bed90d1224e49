"""Who is asked for which metrics: the subscriptions of the cluster, and what they come to for one client."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.config.broker_config import BrokerConfig
from penstock.config.client_match import is_match, parse_match
from penstock.config.client_metrics_config import client_metrics_config
from penstock.config.client_metrics_keys import INTERVAL_MS_DEFAULT
from penstock.metadata.image import ClusterImage
from penstock.metadata.resources import ResourceType
from penstock.model.patterns import Matcher
from penstock.records.checksum import crc32c

ALL_METRICS = "*"
_MASK = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Some metrics of some clients."""

    metrics: tuple[str, ...]
    interval_ms: int
    matchers: Mapping[str, Matcher]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of one client; without metrics, that it asks again after the interval."""

    metrics: tuple[str, ...] = ()
    interval_ms: int = INTERVAL_MS_DEFAULT

    def subscription_id(self, client_instance_id: bytes) -> int:
        """The same on all brokers that ask the same, so that a client may go on with another of them."""
        checksum = crc32c(f"{','.join(self.metrics)}{self.interval_ms}".encode())
        folded = int.from_bytes(client_instance_id[:8], "big") ^ int.from_bytes(client_instance_id[8:], "big")
        number = checksum ^ (folded >> 32) ^ (folded & _MASK)
        return number - 2**32 if number >= 2**31 else number


class Subscriptions:
    """All of them, as the metadata and the broker's settings have them."""

    def __init__(self) -> None:
        self._subscriptions: tuple[Subscription, ...] = ()
        self._texts: object = ()
        self._seen: tuple[object, object] = (None, None)
        #: Changes when they do: whoever was asked before has to be asked anew.
        self.version = 0

    def follow(self, image: ClusterImage, config: BrokerConfig) -> None:
        """Look again, if settings have changed since."""
        if self._seen[0] is image.configs and self._seen[1] is config:
            return
        self._seen = (image.configs, config)
        texts = (
            [
                values
                for resource, values in image.configs.items()
                if resource.type is ResourceType.CLIENT_METRICS
            ],
            config.strings("telemetry.default.metrics"),
            config.integer("telemetry.default.interval.ms"),
        )
        if texts != self._texts:
            self._texts = texts
            self._subscriptions = (*map(_subscription, texts[0]), *_default(config))
            self.version += 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked of anybody."""
        return not any(each.metrics for each in self._subscriptions)

    def wanted_of(self, facts: Mapping[str, str]) -> Wanted:
        """What all that are meant for a client ask of it together."""
        metrics: set[str] = set()
        interval_ms = INTERVAL_MS_DEFAULT
        for each in self._subscriptions:
            if is_match(each.matchers, facts):
                metrics.update(each.metrics)
                interval_ms = min(interval_ms, each.interval_ms)
        if ALL_METRICS in metrics:
            metrics = {ALL_METRICS}
        return Wanted(metrics=tuple(sorted(metrics)), interval_ms=interval_ms)


def _subscription(values: Mapping[str, str]) -> Subscription:
    settings = client_metrics_config(values)
    return Subscription(
        metrics=settings.strings("metrics"),
        interval_ms=settings.integer("interval.ms"),
        matchers=parse_match(settings.strings("match")),
    )


def _default(config: BrokerConfig) -> Iterator[Subscription]:
    metrics = config.strings("telemetry.default.metrics")
    if metrics:
        interval_ms = config.integer("telemetry.default.interval.ms")
        yield Subscription(metrics=metrics, interval_ms=interval_ms, matchers={})
