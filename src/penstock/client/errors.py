"""Every error a client raises, in one tree; each says what happened and what to do about it.

::

    PenstockClientError
    ├── ConfigurationError          a setting or an argument makes no sense; also a ValueError
    ├── ClosedError                 the client was closed
    ├── SerializationError          a key or value could not be turned into bytes, or back
    ├── BufferFull                  the producer holds all it may hold
    ├── RequestTimedOut             nobody answered in time; also a TimeoutError
    ├── BrokerUnavailable           no broker, leader or coordinator can be reached
    ├── UnknownTopic                there is no such topic or partition
    ├── AlreadyExists               there is one of that name
    ├── AuthenticationFailed        nobody believes who you are
    ├── AuthorizationFailed         you may not do that
    ├── Fenced                      another client has taken over this one's name
    ├── TransactionAborted          nothing of the transaction will be seen; it may be done again
    ├── RecordRefused               a broker does not take a record as it is
    ├── OffsetUnavailable           there is nothing to read at that position
    ├── GroupError                  a consumer group does not let a member do that
    ├── RequestRefused              a broker does not do what it was asked
    └── DeliveryError               a record was not acknowledged; each of its kinds is also one of the above
        ├── DeliveryTimedOut, DeliveryToUnknownTopic, DeliveryUnauthorized
        └── DeliveryFenced, DeliveryRefused

``code`` is Kafka's name of the error, ``is_retriable`` whether the same call may succeed later.
"""

from penstock.model.errors import PenstockError, UsageError


class PenstockClientError(PenstockError):
    """The root of the tree."""

    advice = "Look at the broker's log."
    """What to do next; every class has its own."""

    def __init__(
        self, message: str, *, code: str = "", is_retriable: bool = False, advice: str | None = None
    ) -> None:
        hint = self.advice if advice is None else advice
        sentence = message if message.endswith(("?", "!")) else f"{message.rstrip('.')}."
        super().__init__(f"{sentence} {hint}".rstrip())
        self.code = code or "CLIENT_ERROR"
        self.is_retriable = is_retriable


class ConfigurationError(PenstockClientError, UsageError):
    """A setting or an argument makes no sense."""

    advice = ""

    def __init__(self, message: str, *, setting: str = "", code: str = "INVALID_CONFIG") -> None:
        super().__init__(message, code=code)
        self.setting = setting


class ClosedError(PenstockClientError):
    """The client was closed."""

    advice = "Make a new one."


class SerializationError(PenstockClientError):
    """A key or value could not be turned into bytes, or bytes into what they stand for."""

    advice = "Give a serializer that fits, such as value_serializer='json', or bytes."


class BufferFull(PenstockClientError):
    """The producer holds as many records as it may, and brokers do not take them fast enough."""

    advice = "Send more slowly, wait for some futures, or raise buffer_records, buffer_bytes or max_block_ms."


class RequestTimedOut(PenstockClientError, TimeoutError):
    """Nobody answered in time; what was asked may have happened or not."""

    advice = "See whether a broker is reachable at bootstrap_servers, and how busy it is; then try again."


class BrokerUnavailable(PenstockClientError):
    """No broker, leader or coordinator could be reached."""

    advice = (
        "See whether a broker listens at bootstrap_servers (`penstock serve` starts one); then try again."
    )


class UnknownTopic(PenstockClientError):
    """There is no such topic or partition."""

    advice = "Create it with Admin.create_topic or `penstock topic create`, or mend its name."


class AlreadyExists(PenstockClientError):
    """There is already one of that name."""

    advice = "Use the one that is there, or another name."


class AuthenticationFailed(PenstockClientError):
    """The brokers do not believe who this client is."""

    advice = "Mend security_protocol, sasl_mechanism, sasl_username and sasl_password."


class AuthorizationFailed(PenstockClientError):
    """This client may not do what it asked for."""

    advice = "Ask for the right to do so, or use another user."


class Fenced(PenstockClientError):
    """Another client has taken over this one's transactional id or place in its group."""

    advice = "Close this client; the other one goes on. Give each process an id of its own."


class TransactionAborted(PenstockClientError):
    """Nothing that was sent in the transaction will be seen."""

    advice = "Do all of it again in a new transaction."


class RecordRefused(PenstockClientError):
    """A broker does not take a record as it is: too large, or not valid."""

    advice = "Make it smaller, or raise max_message_bytes here and max.message.bytes of the topic."


class OffsetUnavailable(PenstockClientError):
    """There is nothing to read at that position, and no policy says where to go on."""

    advice = "Seek somewhere else, or set auto_offset_reset."


class GroupError(PenstockClientError):
    """The consumer group does not let this member do that now."""

    advice = "Go on polling to join the group again; what was not committed is read again."


class RequestRefused(PenstockClientError):
    """A broker does not do what it was asked."""

    advice = "Change what is asked for."


class DeliveryError(PenstockClientError):
    """A record was not acknowledged."""

    advice = (
        "Send it again, unless it may not be there twice; a producer with idempotence has retried it already."
    )

    topic = ""
    partition = -1
    """Where it should have gone to; -1 when it was never decided."""


class DeliveryTimedOut(DeliveryError, RequestTimedOut):
    """It was not acknowledged within ``delivery_timeout_ms``, and may have been stored or not."""

    advice = RequestTimedOut.advice


class DeliveryToUnknownTopic(DeliveryError, UnknownTopic):
    """There is no such topic or partition."""

    advice = UnknownTopic.advice


class DeliveryUnauthorized(DeliveryError, AuthorizationFailed):
    """This client may not write there."""

    advice = AuthorizationFailed.advice


class DeliveryFenced(DeliveryError, Fenced):
    """Another producer has taken over the transactional id."""

    advice = Fenced.advice


class DeliveryRefused(DeliveryError, RecordRefused):
    """A broker does not take the record as it is."""

    advice = RecordRefused.advice
