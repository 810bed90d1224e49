"""Metadata and rules of a new version: its own, or else those of the version before, with what settings add.

Settings may give a default, which anything else goes before, and an override, which goes before all.
"""

from collections.abc import Mapping
from typing import Any

from penstock.gateway.registry.decisions.well_formed import RULE_LISTS
from penstock.gateway.registry.state import RegistryState

Labels = Mapping[str, Any]


def inherited_metadata(state: RegistryState, subject: str, own: Labels | None) -> Labels | None:
    """The metadata of the next version."""
    latest, config = state.latest(subject), state.config_in_scope(subject)
    specific = own if own is not None else (latest.metadata if latest else None)
    merged = merge_metadata(config.get("defaultMetadata"), specific)
    return merge_metadata(merged, config.get("overrideMetadata"))


def inherited_rules(state: RegistryState, subject: str, own: Labels | None) -> Labels | None:
    """The rules of the next version."""
    latest, config = state.latest(subject), state.config_in_scope(subject)
    specific = own if own is not None else (latest.rule_set if latest else None)
    merged = merge_rules(config.get("defaultRuleSet"), specific)
    return merge_rules(merged, config.get("overrideRuleSet"))


def merge_metadata(weak: Labels | None, strong: Labels | None) -> Labels | None:
    """Both, where ``strong`` goes first."""
    if not weak or strong is None:
        return strong if strong is not None else weak
    merged: dict[str, Any] = {
        key: (weak.get(key) or {}) | (strong.get(key) or {}) for key in ("tags", "properties")
    }
    merged["sensitive"] = sorted({*(weak.get("sensitive") or ()), *(strong.get("sensitive") or ())})
    return {key: value for key, value in merged.items() if value}


def merge_rules(weak: Labels | None, strong: Labels | None) -> Labels | None:
    """Both, where a rule of ``strong`` replaces the one of that name."""
    if not weak or strong is None:
        return strong if strong is not None else weak
    merged = {key: _merged_rules(weak.get(key), strong.get(key)) for key in RULE_LISTS}
    enable_at = strong.get("enableAt") or weak.get("enableAt")
    rules = {key: value for key, value in merged.items() if value}
    return rules | ({"enableAt": enable_at} if enable_at else {})


def _merged_rules(weak: Any, strong: Any) -> list[Any]:
    replaced = {rule.get("name") for rule in strong or ()}
    return [*(rule for rule in weak or () if rule.get("name") not in replaced), *(strong or ())]
