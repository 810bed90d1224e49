"""What is wrong with a filter, told with the place where it is."""

from penstock.model.errors import UsageError


class FilterError(UsageError):
    """A filter that cannot be understood; ``position`` counts characters from 0."""

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(f"{message} (at character {position + 1} of the filter)")
        self.position = position
