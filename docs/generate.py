"""Writes docs/reference/ out of the tables the code itself uses, so that the two cannot drift apart.

``python docs/generate.py`` writes; a test fails when what is checked in differs from what it would write.
"""

from collections.abc import Iterable
from pathlib import Path

from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigKey
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.wire.api_keys import APIS, NEVER_FLEXIBLE, ApiSpec

REFERENCE = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Every generated page by its name."""
    return {"configuration.md": configuration_page(), "apis.md": apis_page()}


def configuration_page() -> str:
    """All settings."""
    return "\n".join(
        [
            "# Configuration",
            "",
            "Generated from the tables in `penstock.config`. Give broker settings in a YAML, JSON or",
            "`.properties` file (`--config`), as environment variables (`log.retention.ms` is",
            "`PENSTOCK_LOG_RETENTION_MS`) or as `--set key=value`; a flag wins over the environment, the",
            "environment over the file. Names may have underscores. Topic settings are given when a",
            "topic is created or altered. A *dynamic* setting can be changed while the broker runs.",
            "",
            "## Broker",
            "",
            *_config_table(BROKER_KEYS.values()),
            "",
            "## Topic",
            "",
            "A setting marked *kept* is stored and shown, as clients expect, but nothing acts on it yet.",
            "",
            *_config_table(TOPIC_KEYS.values()),
            "",
        ]
    )


def apis_page() -> str:
    """All served APIs."""
    rows = [
        f"| {spec.key.value} | {spec.name} | {spec.min_version}–{spec.max_version} | {_flexible_from(spec)} |"
        for spec in sorted(APIS.values(), key=lambda spec: spec.key)
        if spec.is_served
    ]
    return "\n".join(
        [
            "# APIs served",
            "",
            "Generated from `penstock.wire.api_keys`. What each does is said in the file of its name in",
            "`src/penstock/broker/apis/`.",
            "",
            "| key | API | versions | flexible from |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _flexible_from(spec: ApiSpec) -> str:
    return "never" if spec.first_flexible == NEVER_FLEXIBLE else str(spec.first_flexible)


def _config_table(keys: Iterable[ConfigKey]) -> list[str]:
    return [
        "| name | type | default | valid | meaning |",
        "|---|---|---|---|---|",
        *(_config_row(key) for key in sorted(keys, key=lambda key: key.name)),
    ]


def _config_row(key: ConfigKey) -> str:
    default = key.format(key.default)
    notes = " *Dynamic.*" if key.dynamic and key.scope == "broker" else ""
    notes += "" if key.read_by else " *Kept.*"
    cells = (
        f"`{key.name}`",
        key.type.name.lower(),
        f"`{default}`" if default else "",
        key.expected,
        key.doc + notes,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)


if __name__ == "__main__":
    main()
