"""Which tests can be run: those whose requests the broker answers, or that are run against another broker."""

import pytest
from tests.conftest import EXTERNAL_BOOTSTRAP

from penstock.wire.api_keys import APIS, ApiKey


def can_serve(*keys: ApiKey) -> bool:
    """Whether all of these are answered."""
    return bool(EXTERNAL_BOOTSTRAP) or all(APIS[key].is_served for key in keys)


def needs(*keys: ApiKey) -> pytest.MarkDecorator:
    """Skip where one of these is not answered."""
    names = ", ".join(key.name for key in keys)
    return pytest.mark.skipif(not can_serve(*keys), reason=f"the broker does not serve all of {names}")


NEEDS_GROUPS = needs(ApiKey.JOIN_GROUP, ApiKey.OFFSET_COMMIT)
NEEDS_CONSUMER_PROTOCOL = needs(ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.OFFSET_COMMIT)
NEEDS_TRANSACTIONS = needs(ApiKey.END_TXN, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT)
