"""How a coordinator spreads partitions over members: ``uniform`` and ``range``, by Kafka's names."""

from collections.abc import Mapping
from types import MappingProxyType

from penstock.groups.assignors.ranges import assign_ranges
from penstock.groups.assignors.spec import Assignor
from penstock.groups.assignors.uniform import assign_uniformly

ASSIGNORS: Mapping[str, Assignor] = MappingProxyType({"uniform": assign_uniformly, "range": assign_ranges})
"""Every assignor there is; settings choose among them."""
