"""CRC-32C: the right polynomial, over any kind of buffer."""

import subprocess
import sys

import pytest

from penstock.records import checksum
from penstock.records.checksum import crc32c


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_crc32c_of_the_check_string_is_the_published_value(kind: type[bytes]) -> None:
    assert crc32c(kind(b"123456789")) == 0xE3069283


def test_crc32c_of_thirty_two_zeros_is_the_value_of_rfc_3720() -> None:
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_checksum_import_loads_nothing_of_the_wheel_but_its_extension() -> None:
    program = "import sys, penstock.records.checksum; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_checksum_without_a_loadable_extension_comes_from_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class NothingFound:
        @staticmethod
        def find_spec(name: str, path: object = None) -> None:
            return None

    monkeypatch.setattr(checksum, "PathFinder", NothingFound)
    assert checksum._load()(b"123456789") == 0xE3069283
