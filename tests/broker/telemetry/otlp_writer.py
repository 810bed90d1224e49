"""OpenTelemetry's metrics by hand, as its .proto files have them; shares no code with what reads them."""

import struct
from collections.abc import Iterable, Mapping

DELTA, CUMULATIVE = 1, 2


def varint(number: int) -> bytes:
    out = bytearray()
    number &= 2**64 - 1
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def blob(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def fixed(field: int, value: float) -> bytes:
    """A whole number as sfixed64, another one as double."""
    form = "<q" if isinstance(value, int) else "<d"
    return varint(field << 3 | 1) + struct.pack(form, value)


def attributes(field: int, values: Mapping[str, object]) -> bytes:
    return b"".join(blob(field, blob(1, key) + blob(2, any_value(value))) for key, value in values.items())


def any_value(value: object) -> bytes:
    match value:
        case bool():
            return number(2, int(value))
        case int():
            return number(3, value)
        case float():
            return fixed(4, value)
        case _:
            return blob(1, str(value))


def point(value: float, **labels: object) -> bytes:
    """Of a gauge or sum; attributes first, as the order is free."""
    return (
        attributes(7, labels) + fixed(2, 1) + fixed(3, 2) + fixed(6 if isinstance(value, int) else 4, value)
    )


def gauge(name: str, *points: bytes) -> bytes:
    return blob(1, name) + blob(2, "what it means") + blob(5, b"".join(blob(1, each) for each in points))


def total(name: str, *points: bytes, temporality: int = DELTA, monotonic: bool = True) -> bytes:
    data = b"".join(blob(1, each) for each in points)
    return blob(1, name) + blob(7, data + number(2, temporality) + number(3, int(monotonic)))


def metrics_data(metrics: Iterable[bytes], **resource: object) -> bytes:
    scope = blob(1, blob(1, "a scope")) + b"".join(blob(2, metric) for metric in metrics)
    return blob(1, blob(1, attributes(1, resource)) + blob(2, scope))
