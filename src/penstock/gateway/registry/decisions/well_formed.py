"""What metadata, rules and settings must look like, before they are kept.

They are kept as they come and used long after, with every schema that is registered: what cannot be used then
would stand in everybody's way. What has a name that nothing here looks at is kept and not looked at.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.errors import invalid_level, invalid_rule_set, invalid_schema
from penstock.gateway.registry.state import LEVEL
from penstock.gateway.registry.values.levels import CompatibilityLevel

NUMBER_MAX = 2**31 - 1
"""The highest id and version: clients write an id as four bytes with a sign."""

RULE_LISTS = ("migrationRules", "domainRules", "encodingRules")

Refuse = Callable[[str], GatewayError]

_FLAGS = frozenset({"normalize", "validateFields", "validateNewSchemas", "validateRules"})
_NAMES = frozenset({"alias", "compatibilityPolicy", "compatibilityGroup"})
_METADATA = frozenset({"defaultMetadata", "overrideMetadata"})
_RULE_SETS = frozenset({"defaultRuleSet", "overrideRuleSet"})


def require_metadata(metadata: Any) -> None:
    """Refuse (42201) what is no metadata; None is none."""
    if metadata is None:
        return
    _require_object(metadata, "Metadata", invalid_schema)
    tags, properties, sensitive = (metadata.get(key) for key in ("tags", "properties", "sensitive"))
    if tags is not None:
        _require_object(tags, "Tags of metadata", invalid_schema)
        for path, names in tags.items():
            _require_texts(names, f"Tags of {path!r}", invalid_schema)
    if properties is not None:
        _require_object(properties, "Properties of metadata", invalid_schema)
        for name, value in properties.items():
            if isinstance(value, dict | list):
                raise invalid_schema(f"The property {name!r} of metadata must be text.")
    _require_texts(sensitive, "Sensitive properties", invalid_schema)
    _require_text(metadata, "Metadata", invalid_schema)


def require_rules(rule_set: Any) -> None:
    """Refuse (42210) what is no set of rules; None is none."""
    if rule_set is None:
        return
    _require_object(rule_set, "A set of rules", invalid_rule_set)
    names: set[str] = set()
    for key in RULE_LISTS:
        rules = rule_set.get(key)
        if rules is not None and not isinstance(rules, list):
            raise invalid_rule_set(f"{key} must be a list.")
        for rule in rules or ():
            _require_rule(rule)
            if rule["name"] in names:
                raise invalid_rule_set(f"Found rule with duplicate name '{rule['name']}'.")
            names.add(rule["name"])
    _require_text(rule_set, "Rules", invalid_rule_set)


def require_config(config: Mapping[str, Any]) -> None:
    """Refuse settings that could not be followed; None goes back to the default."""
    for key, value in config.items():
        if value is None:
            continue
        if key == LEVEL and value not in set(CompatibilityLevel):
            raise invalid_level(value, ", ".join(CompatibilityLevel))
        if key in _FLAGS and not isinstance(value, bool):
            raise GatewayError(422, f"The setting {key} must be true or false.")
        if key in _NAMES and not isinstance(value, str):
            raise GatewayError(422, f"The setting {key} must be text.")
        if key in _METADATA:
            require_metadata(value)
        if key in _RULE_SETS:
            require_rules(value)
    _require_text(config, "Settings", partial(GatewayError, 422))


def _require_rule(rule: Any) -> None:
    if not isinstance(rule, dict) or not all(_is_name(rule.get(key)) for key in ("name", "type")):
        raise invalid_rule_set("Every rule needs a name and a type.")
    _require_texts(rule.get("tags"), f"Tags of rule {rule['name']!r}", invalid_rule_set)
    if rule.get("params") is not None:
        _require_object(rule["params"], f"Parameters of rule {rule['name']!r}", invalid_rule_set)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _require_object(value: Any, what: str, refuse: Refuse) -> None:
    if not isinstance(value, Mapping):
        raise refuse(f"{what} must be an object of JSON.")


def _require_texts(value: Any, what: str, refuse: Refuse) -> None:
    if value is not None and not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise refuse(f"{what} must be a list of texts.")


def _require_text(value: Any, what: str, refuse: Refuse) -> None:
    """Of which every byte can be written and read by others."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise refuse(f"{what} must be text: {error}.") from error
