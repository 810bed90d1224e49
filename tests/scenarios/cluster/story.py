"""What a story of the cluster is: a few steps that end well, and do not with the bugs that it names.

A story is told twice: as it is, and with each of its bugs planted, as the simulator plants them. Then it has
to end with an assertion about what was promised, so each bug is named together with words of that assertion.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

Tell = Callable[[], None]


@dataclass(slots=True)
class Story:
    """Something to be told."""

    tell: Tell
    #: Names of bugs, and what is complained of when they are planted.
    bugs: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the table of bugs calls it."""
        return self.tell.__name__


def story(tell: Tell) -> Story:
    """Make a story of a function."""
    return Story(tell)


def about(*bugs: str, breaks: str) -> Callable[[Story], Story]:
    """Say that these bugs break a promise in a story, in these words."""

    def mark(told: Story) -> Story:
        told.bugs.update(dict.fromkeys(bugs, breaks))
        return told

    return mark
