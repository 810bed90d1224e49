"""Everybody who has applied the metadata log up to an offset believes the same (I11)."""

from collections.abc import Iterator

from penstock.metadata.image import ClusterImage
from penstock.metadata.snapshot import image_fingerprint
from penstock.sim.checkers.watching import Look, MetadataView


class ImagesAgree:
    """Remembers the image of every offset that anybody was seen at."""

    rule = "images agree at equal offsets"

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, str]] = {}
        #: What each broker was last seen with, so that an image is looked at once.
        self._last: dict[str, tuple[int, ClusterImage]] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Compare with everybody who was at the same offset."""
        for view in look.metadata:
            if self._is_news(view):
                fingerprint = image_fingerprint(view.image)
                first, expected = self._known.setdefault(view.applied_offset, (view.node, fingerprint))
                if fingerprint != expected:
                    yield f"{first} and {view.node} have different images at {view.applied_offset}"

    def _is_news(self, view: MetadataView) -> bool:
        offset, image = self._last.get(view.node, (-1, None))
        if offset == view.applied_offset and image is view.image:
            return False
        self._last[view.node] = view.applied_offset, view.image
        return True
