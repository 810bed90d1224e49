"""Names people give to topics and headers, and which of them are allowed."""

import re

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import TOPIC_NAME_LENGTH_MAX

METADATA_TOPIC = "__cluster_metadata"
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
LOGS_TOPIC = "__penstock_logs"
PIPELINES_TOPIC = "__penstock_pipelines"
"""Written by pipelines, which are clients: for brokers it is a topic like others."""

INTERNAL_TOPICS = frozenset({METADATA_TOPIC, OFFSETS_TOPIC, TRANSACTIONS_TOPIC, LOGS_TOPIC})
COORDINATOR_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})
"""All that is known of groups and transactions, each in the partition that its name is hashed to."""

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """Raise INVALID_TOPIC_EXCEPTION unless ``name`` is a legal topic name, safe to become a directory."""
    if name in ("", ".", ".."):
        raise _invalid(f"Topic name {name!r} is not allowed.")
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        raise _invalid(f"Topic name is {len(name)} characters long, the limit is {TOPIC_NAME_LENGTH_MAX}.")
    if not _LEGAL_NAME.fullmatch(name):
        raise _invalid(
            f"Topic name {name!r} is illegal: it may hold only ASCII letters, digits, '.', '_' and '-'."
        )


def metric_name(name: str) -> str:
    """What metrics make of a topic's name: '.' and '_' are the same there."""
    return name.replace(".", "_")


def is_header_name(name: object) -> bool:
    """Whether a record may have a header of this name: text, of which UTF-8 can write all.

    librdkafka's binding kills its process over half a character of UTF-16, as JSON may bring one; it makes a
    text of anything else, such as None, and cuts a name at a zero.
    """
    return isinstance(name, str) and "\0" not in name and (name.isascii() or _is_encodable(name))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
