"""How many brokers the client tests run against: one, or as many as ``PENSTOCK_TEST_NODES`` says.

With more than one, the very same tests talk to a cluster in which topics have up to three replicas, and tests
that kill a broker kill one of several.
"""

import os

NODE_COUNT = int(os.environ.get("PENSTOCK_TEST_NODES", "1"))
REPLICATION_FACTOR = min(3, NODE_COUNT)
