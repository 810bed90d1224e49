"""Settings of a topic."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from penstock.client.administration.results import ConfigEntry
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.parameters import TopicName

_OWN = "DYNAMIC_TOPIC_CONFIG"


class ShownConfig(BaseModel):
    """A setting; a secret one has no value here."""

    name: str
    value: str | None
    source: str
    """Who has set it, such as DYNAMIC_TOPIC_CONFIG or DEFAULT_CONFIG."""
    is_overridden: bool
    """Whether it was set for this topic."""
    is_read_only: bool
    is_sensitive: bool


class ConfigChanges(BaseModel):
    """New values by name; null takes a setting back to its default."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"changes": {"retention.ms": "86400000", "cleanup.policy": None}}},
    )

    changes: dict[str, str | None] = Field(min_length=1)
    dry_run: bool = False
    """Only say whether they could be set."""


def configs_router(gateway: Gateway) -> APIRouter:
    """The routes about settings."""
    routes = APIRouter()

    @routes.get("/topics/{topic:name}/configs")
    def list_configs(
        topic: TopicName,
        overridden: Annotated[bool, Query(description="Only those that were set for this topic.")] = False,
    ) -> list[ShownConfig]:
        """All settings of a topic, by name."""
        shown = _configs(gateway, topic)
        return [each for each in shown if each.is_overridden or not overridden]

    @routes.patch("/topics/{topic:name}/configs")
    def change_configs(topic: TopicName, wish: ConfigChanges) -> list[ShownConfig]:
        """Change some settings and leave the others; the answer has all of them."""
        gateway.kafka.admin.alter_config(topic, wish.changes, validate_only=wish.dry_run)
        return _configs(gateway, topic)

    return routes


def _configs(gateway: Gateway, topic: str) -> list[ShownConfig]:
    gateway.kafka.topics.partitions(topic)
    found = gateway.kafka.admin.describe_config(topic)
    return [_shown(entry) for _, entry in sorted(found.items())]


def _shown(entry: ConfigEntry) -> ShownConfig:
    return ShownConfig(
        name=entry.name,
        value=entry.value,
        source=entry.source,
        is_overridden=entry.source == _OWN,
        is_read_only=entry.is_read_only,
        is_sensitive=entry.is_sensitive,
    )
