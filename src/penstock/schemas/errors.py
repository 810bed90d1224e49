"""What is wrong with a schema's text. It names the place and the reason."""

from penstock.model.errors import PenstockError, UsageError


class InvalidSchema(UsageError):
    """A text is no schema of its kind, or not a whole one: something that it refers to is missing."""


class TooComplexError(PenstockError):
    """A comparison takes more steps than it may; whoever compares answers that it proved nothing."""
