"""Bytes and texts as .proto files spell them between quotes: as C does."""

_SIMPLE = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}


def escaped(data: bytes) -> str:
    """Any bytes in printable ASCII."""
    return "".join(_spelt(byte) for byte in data)


def quoted(text: str) -> str:
    """A text between quotes; letters of other alphabets stay readable."""
    return '"' + "".join(letter if ord(letter) >= 0x80 else _spelt(ord(letter)) for letter in text) + '"'


def _spelt(byte: int) -> str:
    if byte in _SIMPLE:
        return _SIMPLE[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
