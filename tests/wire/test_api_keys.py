import subprocess
import sys

import pytest

from penstock.wire.api_keys import APIS, ApiKey, ApiSpec, advertised_versions, is_served, known_api

# Key: lowest and highest version, first flexible version; from Kafka 4.3's own table.
KAFKA = {
    0: (3, 13, 9),
    1: (4, 18, 12),
    2: (1, 11, 6),
    3: (0, 13, 9),
    10: (0, 6, 3),
    18: (0, 4, 3),
    19: (2, 7, 5),
    20: (1, 6, 4),
    21: (0, 2, 2),
    22: (0, 5, 2),
    23: (2, 4, 4),
    32: (1, 4, 4),
    33: (0, 2, 2),
    35: (1, 5, 2),
    37: (0, 3, 2),
    44: (0, 1, 1),
    60: (0, 2, 0),
    75: (0, 0, 0),
}


@pytest.mark.parametrize("key", KAFKA)
def test_api_has_kafkas_versions(key: int) -> None:
    spec = known_api(key)
    assert spec is not None
    assert (spec.min_version, spec.max_version, spec.first_flexible) == KAFKA[key]


def test_every_key_has_a_row() -> None:
    assert set(APIS) == set(ApiKey)


@pytest.mark.parametrize("spec", APIS.values(), ids=lambda spec: spec.name)
def test_messages_bear_the_name_of_their_api(spec: ApiSpec) -> None:
    assert spec.request.__name__ == f"{spec.name}Request"
    assert spec.response.__name__ == f"{spec.name}Response"
    assert spec.key.name == "".join(f"_{c}" if c.isupper() else c for c in spec.name)[1:].upper()


def test_produce_is_advertised_from_zero_but_spoken_from_three() -> None:
    advertised = {row.api_key: row for row in advertised_versions()}
    assert (advertised[0].min_version, advertised[0].max_version) == (0, 13)
    assert not is_served(0, 2)
    assert is_served(0, 3)


def test_find_coordinator_is_advertised_since_librdkafka_derives_lz4_from_it() -> None:
    assert ApiKey.FIND_COORDINATOR in {row.api_key for row in advertised_versions()}


def test_advertised_versions_are_in_the_order_of_keys() -> None:
    keys = [row.api_key for row in advertised_versions()]
    assert keys == sorted(keys)


@pytest.mark.parametrize(("api_key", "version"), [(3, -1), (3, 14), (4, 0), (-1, 0)])
def test_unknown_versions_and_keys_are_not_served(api_key: int, version: int) -> None:
    assert not is_served(api_key, version)


def test_messages_are_loaded_only_when_asked_for() -> None:
    program = (
        "import sys, penstock.wire.framing\n"
        "from penstock.wire.api_keys import APIS, ApiKey\n"
        "loaded = lambda: sorted(n for n in sys.modules if n.startswith('penstock.wire.messages.'))\n"
        "print(*loaded())\n"
        "APIS[ApiKey.FETCH].response\n"
        "print(*loaded())\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = "penstock.wire.messages.api_versions"
    assert printed.stdout.splitlines() == [modules, f"{modules} penstock.wire.messages.fetch"]
