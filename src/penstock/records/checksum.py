"""CRC-32C (Castagnoli) from the wheel's C extension.

The wheel's package module pulls in ``importlib.metadata``, ``argparse`` and ``email`` only to know its own
version, which costs more than a tenth of the broker's whole start. So the extension is loaded by itself where
it can be found, and the package is the fallback.
"""

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

Checksum = Callable[..., int]


def _load() -> Checksum:
    package = PathFinder.find_spec("crc32c")
    locations = package.submodule_search_locations if package else None
    extension = PathFinder.find_spec("_crc32c", locations) if locations else None
    if extension is None or extension.loader is None:
        from crc32c import crc32c as packaged

        return packaged
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    function: Checksum = module.crc32c
    return function


crc32c = _load()
"""``crc32c(buffer, value=0) -> int`` over any contiguous buffer; large ones are done without the GIL."""
