"""``/config`` and ``/mode``: of the whole registry, of a context, of a subject."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from penstock.gateway.registry.api.routes import new_routes, setting_scope
from penstock.gateway.registry.decisions.configuring import (
    decide_delete_config,
    decide_delete_mode,
    decide_set_config,
    decide_set_mode,
)
from penstock.gateway.registry.decisions.well_formed import require_config
from penstock.gateway.registry.errors import config_not_found, invalid_level, invalid_mode, mode_not_found
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import LEVEL
from penstock.gateway.registry.values.levels import CompatibilityLevel, Mode

DefaultToGlobal = Annotated[
    bool, Query(alias="defaultToGlobal", description="What holds for it, if nothing is set on itself.")
]
Force = Annotated[bool, Query(description="IMPORT even where there are schemas already.")]

_KEPT = (
    *("alias", "normalize", "validateFields", "validateNewSchemas", "validateRules", "compatibilityPolicy"),
    *("compatibilityGroup", "defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet"),
)


class ConfigBody(BaseModel):
    """Settings to change; those that are left out stay, null goes back to the default."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [{"compatibility": "FULL_TRANSITIVE"}]}
    )

    compatibility: str | None = None
    level: str | None = Field(default=None, alias="compatibilityLevel")
    normalize: bool | None = None
    alias_: str | None = Field(default=None, alias="alias")

    def changes(self) -> dict[str, Any]:
        """The settings that are named, as they are kept; refuses those that could not be followed."""
        given = self.model_dump(by_alias=True, exclude_unset=True)
        changes = {key: value for key, value in given.items() if key in _KEPT}
        require_config(changes)
        named = [given[key] for key in ("compatibility", LEVEL) if key in given]
        return changes | ({LEVEL: _level(named[0])} if named else {})


class ModeBody(BaseModel):
    """The mode to change to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "READONLY"}]})

    mode: str


def config_routes(registry: SchemaRegistry) -> APIRouter:
    """Reading and changing settings."""
    routes = new_routes("config")

    @routes.get("/config")
    def get_all() -> dict[str, Any]:
        """The settings of the whole registry."""
        return dict(registry.state.config_in_scope(None))

    @routes.put("/config")
    def set_all(body: ConfigBody) -> dict[str, Any]:
        """Change settings of the whole registry."""
        return _changed(registry.change(decide_set_config(None, body.changes())))

    @routes.delete("/config")
    def delete_all() -> dict[str, Any]:
        """Go back to the defaults; the answer is what was set."""
        deleted = registry.change(decide_delete_config(None))
        return dict(deleted)

    @routes.get("/config/{subject:slashed_name}")
    def get_one(subject: str, default: DefaultToGlobal = False) -> dict[str, Any]:
        """The settings of a subject or context."""
        state, scope = registry.state, setting_scope(subject)
        in_scope = state.config_in_scope(scope)
        if scope is None or default:
            return dict(in_scope)
        own = registry.find(lambda state: state.configs.get(scope) or _refuse_config(scope))
        return {LEVEL: in_scope[LEVEL], **own}

    @routes.put("/config/{subject:slashed_name}")
    def set_one(subject: str, body: ConfigBody) -> dict[str, Any]:
        """Change settings of a subject or context."""
        return _changed(registry.change(decide_set_config(setting_scope(subject), body.changes())))

    @routes.delete("/config/{subject:slashed_name}")
    def delete_one(subject: str) -> dict[str, Any]:
        """Go back to the settings around; the answer is what was set."""
        deleted = registry.change(decide_delete_config(setting_scope(subject)))
        return dict(deleted)

    return routes


def mode_routes(registry: SchemaRegistry) -> APIRouter:
    """Reading and changing modes."""
    routes = new_routes("mode")

    @routes.get("/mode")
    def get_all() -> dict[str, str]:
        """The mode of the whole registry."""
        return _told(registry.state.mode_in_scope(None))

    @routes.put("/mode")
    def set_all(body: ModeBody, force: Force = False) -> dict[str, str]:
        """Change the mode of the whole registry."""
        return _told(registry.change(decide_set_mode(None, _mode(body.mode), force=force)))

    @routes.delete("/mode")
    def delete_all() -> dict[str, str]:
        """Go back to READWRITE; the answer is what it was."""
        return _told(registry.change(decide_delete_mode(None)))

    @routes.get("/mode/{subject:slashed_name}")
    def get_one(subject: str, default: DefaultToGlobal = False) -> dict[str, str]:
        """The mode of a subject or context."""
        scope = setting_scope(subject)
        if scope is None or default:
            return _told(registry.state.mode_in_scope(scope))
        return _told(registry.find(lambda state: state.modes.get(scope) or _refuse_mode(scope)))

    @routes.put("/mode/{subject:slashed_name}")
    def set_one(subject: str, body: ModeBody, force: Force = False) -> dict[str, str]:
        """Change the mode of a subject or context."""
        decide = decide_set_mode(setting_scope(subject), _mode(body.mode), force=force)
        return _told(registry.change(decide))

    @routes.delete("/mode/{subject:slashed_name}")
    def delete_one(subject: str) -> dict[str, str]:
        """Go back to the mode around; the answer is what it was."""
        return _told(registry.change(decide_delete_mode(setting_scope(subject))))

    return routes


def _changed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Confluent's registry repeats a change under the name that requests have for the level."""
    return {("compatibility" if key == LEVEL else key): value for key, value in config.items()}


def _told(mode: Mode) -> dict[str, str]:
    return {"mode": mode.value}


def _refuse_config(subject: str) -> Mapping[str, Any]:
    raise config_not_found(subject)


def _refuse_mode(subject: str) -> Mode:
    raise mode_not_found(subject)


def _level(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return CompatibilityLevel(name.upper()).value
    except ValueError:
        raise invalid_level(name, ", ".join(CompatibilityLevel)) from None


def _mode(name: str) -> Mode:
    try:
        return Mode(name.upper())
    except ValueError:
        raise invalid_mode(name, ", ".join(Mode)) from None
