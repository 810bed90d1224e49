"""A line of the tables of broker settings."""

from penstock.config.definition import ConfigKey, ConfigType, ConfigValue, Scope, Validator


def broker_key(
    name: str,
    type: ConfigType,
    default: ConfigValue,
    doc: str,
    *,
    read_by: str,
    validator: Validator | None = None,
    dynamic: bool = False,
) -> ConfigKey:
    """A setting of a broker, and the module that acts on it."""
    return ConfigKey(
        name=name,
        type=type,
        default=default,
        doc=doc,
        scope=Scope.BROKER,
        validator=validator,
        dynamic=dynamic,
        read_by=read_by,
    )
