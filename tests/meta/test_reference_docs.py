"""The reference is generated from the tables the code uses; what is checked in is what they say today."""

import importlib.util
from types import ModuleType

import pytest
from tests.meta.source_tree import ROOT

from penstock.cli.serve import option_names
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.wire.api_keys import APIS

REFERENCE = ROOT / "docs" / "reference"
HELP_AND_VERSION = ("-h", "--help", "-V", "--version")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    specification = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_checked_in_pages_are_up_to_date(generator: ModuleType) -> None:
    for name, text in generator.pages().items():
        assert (REFERENCE / name).read_text() == text, f"run python docs/generate.py: {name} has changed"


def test_every_setting_is_documented() -> None:
    text = (REFERENCE / "configuration.md").read_text()
    assert not [name for name in (*BROKER_KEYS, *TOPIC_KEYS) if f"`{name}`" not in text]


def test_every_served_api_is_documented() -> None:
    text = (REFERENCE / "apis.md").read_text()
    assert not [spec.name for spec in APIS.values() if spec.is_served and f" {spec.name} " not in text]


def test_every_option_of_serve_is_documented_and_arguments_are_spelled_as_help_has_them() -> None:
    text = (REFERENCE / "commands.md").read_text()
    served = text.partition("## penstock serve\n")[2].partition("\n## ")[0]
    assert not [name for name in option_names() if name not in served and name not in HELP_AND_VERSION]
    assert "## penstock config set KIND [NAME] KEY=VALUE...\n" in text
