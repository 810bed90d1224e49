"""What can go wrong between bytes, a registry and a column, told apart by what to do about it.

::

    UsageError
    ├── InvalidSchema              a text that is no schema at all, out of ``penstock.schemas``
    ├── SchemaUnsupportedError     a schema that cannot become columns
    ├── SchemaNotFoundError        the registry answered: there is no such schema
    ├── UnwritableValueError       a value does not fit into the schema it is written with
    └── SchemaRefusedError         the registry does not take a new schema: not valid, or not compatible
    OperatingError
    └── RegistryUnavailableError   the registry did not answer, or refused: nobody's record is to blame

A record that cannot be read is no exception but a reason, kept beside the row. Only the first three become
such reasons; an unavailable registry fails the task, so that Spark tries again, and no good record is ever
sent to the dead letters because a server was away.
"""

from penstock.model.errors import OperatingError, PenstockError, UsageError


class SchemaUnsupportedError(UsageError):
    """A schema has no counterpart among Spark's types."""


class SchemaNotFoundError(UsageError):
    """The registry knows no schema of this id, name or version."""


class SchemaRefusedError(UsageError):
    """The registry does not accept this schema under that subject."""


class RegistryUnavailableError(OperatingError):
    """The registry could not be asked."""


class UnwritableValueError(UsageError):
    """A value does not fit into the schema with which it is to be written."""


class UnreadableRecordError(PenstockError):
    """A record does not decode, and the mode is FAILFAST."""
