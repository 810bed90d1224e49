"""Which partition of an internal topic keeps a key. Clients and Kafka's own tools compute the same."""

from penstock.model.errors import UsageError

_INT32_RANGE = 1 << 32
_INT32_MIN = -(1 << 31)


def java_string_hash(text: str) -> int:
    """The hash of a string in Java: a polynomial over its UTF-16 units, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) % _INT32_RANGE
    return value - _INT32_RANGE if value >= -_INT32_MIN else value


def partition_for(key: str, partition_count: int) -> int:
    """The partition of a group id or transactional id.

    Java's ``abs`` of the smallest number is negative; Kafka takes 0 for it, and so must we.
    """
    if partition_count < 1:
        raise UsageError(f"an internal topic has at least one partition, not {partition_count}")
    value = java_string_hash(key)
    return 0 if value == _INT32_MIN else abs(value) % partition_count
