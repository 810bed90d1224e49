import subprocess
import sys

import pytest

from penstock.wire.api_keys import (
    APIS,
    NEVER_FLEXIBLE,
    ApiKey,
    ApiSpec,
    advertised_versions,
    is_served,
    known_api,
)

# Key: lowest and highest version, first flexible version; from Kafka 4.3's own table.
KAFKA = {
    0: (3, 13, 9),
    1: (4, 18, 12),
    2: (1, 11, 6),
    3: (0, 13, 9),
    8: (2, 10, 8),
    9: (1, 10, 6),
    10: (0, 6, 3),
    11: (0, 9, 6),
    12: (0, 4, 4),
    13: (0, 5, 4),
    14: (0, 5, 4),
    15: (0, 6, 5),
    16: (0, 5, 3),
    18: (0, 4, 3),
    19: (2, 7, 5),
    20: (1, 6, 4),
    21: (0, 2, 2),
    22: (0, 5, 2),
    23: (2, 4, 4),
    24: (0, 5, 3),
    25: (0, 4, 3),
    26: (0, 5, 3),
    27: (1, 2, 1),
    28: (0, 5, 3),
    32: (1, 4, 4),
    33: (0, 2, 2),
    35: (1, 5, 2),
    36: (0, 2, 2),
    37: (0, 3, 2),
    42: (0, 2, 2),
    43: (0, 2, 2),
    44: (0, 1, 1),
    45: (0, 1, 0),
    46: (0, 0, 0),
    47: (0, 0, NEVER_FLEXIBLE),
    55: (0, 2, 0),
    56: (2, 3, 0),
    57: (0, 2, 0),
    58: (0, 0, 0),
    60: (0, 2, 0),
    61: (0, 0, 0),
    62: (0, 4, 0),
    63: (0, 2, 0),
    64: (0, 0, 0),
    65: (0, 0, 0),
    66: (0, 2, 0),
    67: (0, 0, 0),
    68: (0, 1, 0),
    69: (0, 1, 0),
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


def test_api_is_advertised_if_it_is_served_and_not_private() -> None:
    advertised = {row.api_key for row in advertised_versions()}
    assert advertised == {spec.key for spec in APIS.values() if spec.is_served and not spec.is_private}
    assert ApiKey.DECOMMISSION_BROKER in advertised


@pytest.mark.parametrize("key", [ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE])
def test_login_is_spoken_by_clients_and_not_served(key: ApiKey) -> None:
    assert key not in {row.api_key for row in advertised_versions()}
    assert not is_served(key, APIS[key].max_version)


@pytest.mark.parametrize("spec", [s for s in APIS.values() if s.is_private], ids=lambda spec: spec.name)
def test_private_api_is_served_and_not_advertised(spec: ApiSpec) -> None:
    assert spec.key not in {row.api_key for row in advertised_versions()}
    assert is_served(spec.key, spec.max_version)
