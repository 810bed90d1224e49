"""A registry beside a broker of a test."""

import json
import urllib.request

import pytest

from penstock.model.errors import UsageError
from penstock.testing import Broker, Registry


def subjects(registry: Registry) -> list[str]:
    with urllib.request.urlopen(f"{registry.url}/subjects", timeout=10) as answer:
        found: list[str] = json.load(answer)
    return found


def test_registry_answers_until_its_block_ends() -> None:
    with Broker() as broker:
        with Registry(broker) as registry:
            assert subjects(registry) == []
            with pytest.raises(UsageError, match="already"):
                registry.start()
        with pytest.raises(UsageError, match="not started"):
            _ = registry.url
        registry.close()


def test_fixture_gives_a_registry(penstock_registry: Registry) -> None:
    assert isinstance(subjects(penstock_registry), list)
