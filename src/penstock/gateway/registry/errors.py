"""What a registry refuses, with the codes that its clients know."""

from penstock.gateway.errors import GatewayError


def subject_not_found(subject: str | None) -> GatewayError:
    """40401."""
    return GatewayError(404, f"Subject '{subject}' not found.", error_code=40401)


def version_not_found(version: object) -> GatewayError:
    """40402."""
    return GatewayError(404, f"Version {version} not found.", error_code=40402)


def schema_not_found(name: object = "") -> GatewayError:
    """40403."""
    return GatewayError(404, f"Schema {name} not found" if name else "Schema not found", error_code=40403)


def subject_soft_deleted(subject: str) -> GatewayError:
    """40404."""
    text = f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
    return GatewayError(404, text, error_code=40404)


def subject_not_soft_deleted(subject: str) -> GatewayError:
    """40405."""
    text = f"Subject '{subject}' was not deleted first before being permanently deleted"
    return GatewayError(404, text, error_code=40405)


def version_soft_deleted(subject: str, version: int) -> GatewayError:
    """40406."""
    text = f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    return GatewayError(404, text, error_code=40406)


def version_not_soft_deleted(subject: str, version: int) -> GatewayError:
    """40407."""
    text = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return GatewayError(404, text, error_code=40407)


def config_not_found(subject: str) -> GatewayError:
    """40408."""
    text = f"Subject '{subject}' does not have subject-level compatibility configured"
    return GatewayError(404, text, error_code=40408)


def mode_not_found(subject: str) -> GatewayError:
    """40409."""
    text = f"Subject '{subject}' does not have subject-level mode configured"
    return GatewayError(404, text, error_code=40409)


def incompatible(subject: str, details: str) -> GatewayError:
    """409, without more digits: what clients have seen for longest."""
    text = (
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: '
    )
    return GatewayError(409, text + details, error_code=409)


def invalid_schema(reason: str) -> GatewayError:
    """42201."""
    return GatewayError(422, reason, error_code=42201)


def invalid_version(version: str) -> GatewayError:
    """42202."""
    text = (
        f"The specified version '{version}' is not a valid version id. Allowed values are between "
        '[1, 2^31-1] and the string "latest"'
    )
    return GatewayError(422, text, error_code=42202)


def invalid_level(level: object, known: str) -> GatewayError:
    """42203."""
    return GatewayError(
        422, f"Invalid compatibility level {level!r}. Valid values are {known}", error_code=42203
    )


def invalid_mode(mode: object, known: str) -> GatewayError:
    """42204."""
    return GatewayError(422, f"Invalid mode {mode!r}. Valid values are {known}", error_code=42204)


def not_permitted(reason: str) -> GatewayError:
    """42205."""
    return GatewayError(422, reason, error_code=42205)


def reference_exists(subject: str, version: int, by: str) -> GatewayError:
    """42206."""
    text = f"Version {version} of subject '{subject}' is referenced by {by}; delete that first"
    return GatewayError(422, text, error_code=42206)


def id_does_not_match(reason: str) -> GatewayError:
    """42207."""
    return GatewayError(422, reason, error_code=42207)


def invalid_subject(subject: str) -> GatewayError:
    """42208."""
    return GatewayError(422, f"The specified subject '{subject}' is not a valid subject.", error_code=42208)


def schema_too_large(reason: str) -> GatewayError:
    """42209."""
    return GatewayError(422, reason, error_code=42209)


def invalid_rule_set(reason: str) -> GatewayError:
    """42210."""
    return GatewayError(422, reason, error_code=42210)


def context_not_empty(context: str) -> GatewayError:
    """42211."""
    return GatewayError(422, f"Context '{context}' is not empty; delete its subjects first", error_code=42211)


def store_failed(reason: str) -> GatewayError:
    """50001: the topic cannot be read or written."""
    return GatewayError(500, reason, error_code=50001)


def timed_out(reason: str) -> GatewayError:
    """50002."""
    return GatewayError(500, reason, error_code=50002)
