"""Where the logs of a partition's followers begin, as they said last."""

from collections.abc import Iterable

from penstock.model.ids import NodeId


class LogBeginnings:
    """Of one partition, during one leader epoch."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: dict[NodeId, int] = {}

    def told(self, node_id: NodeId, log_start_offset: int) -> bool:
        """A follower has said where its log begins; whether that is new."""
        is_new = self._told.get(node_id) != log_start_offset
        self._told[node_id] = log_start_offset
        return is_new

    def lowest(self, own: int, others: Iterable[NodeId]) -> int:
        """The lowest beginning of ours and these; whoever has not said counts as having everything."""
        return min([own, *(self._told.get(node_id, 0) for node_id in others)])

    def forget(self) -> None:
        """Another leader epoch has begun."""
        self._told.clear()
