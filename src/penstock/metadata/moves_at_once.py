"""How many partitions the controller may begin to move by itself, beside those that are on the move already.

Those that nobody leads are counted by themselves: nothing of them is copied before somebody leads them, which
may be never, and they must not keep all the others where they are. A move under way may always be given
another direction, since it is the only way out where it leads to a broker that is gone.
"""

from collections import Counter

from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.topic_image import PartitionImage


class MovesAtOnce:
    """What is on the move, and how much may be."""

    def __init__(self, image: ClusterImage, limit: int) -> None:
        self._limit = limit
        #: How many move, by whether somebody leads them.
        self._moving = Counter(
            place.partition.has_leader for place in partitions_of(image) if place.partition.is_reassigning
        )

    def has_room_for(self, partition: PartitionImage) -> bool:
        """Whether this partition may begin to move, or go elsewhere than it is going."""
        return partition.is_reassigning or self._moving[partition.has_leader] < self._limit

    def begin(self, partition: PartitionImage) -> None:
        """It does."""
        self._moving[partition.has_leader] += not partition.is_reassigning
