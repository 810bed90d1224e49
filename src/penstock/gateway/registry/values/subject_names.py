"""Names of subjects, which may stand in a context: ``:.team:orders-value`` is ``orders-value`` in ``.team``.

A context is a registry within the registry: its ids are its own. Names without one are in the default
context, ``.``. Everywhere else in this package a subject is its qualified name, as ``qualified`` makes it,
and None stands for the whole registry.
"""

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
"""Whose settings hold for all contexts that have none."""

ANY_CONTEXT = ":*:"
RESERVED_NAMES = frozenset({"__GLOBAL", "__EMPTY"})
NAME_LENGTH_MAX = 1024

_PREFIX = ":."


def qualified(text: str) -> str:
    """The one way to write a subject's name: the default context is left out."""
    return _written(context_of(text), bare_name(text))


def context_of(subject: str | None) -> str:
    """The context that a subject stands in."""
    if subject is None or not subject.startswith(_PREFIX):
        return DEFAULT_CONTEXT
    return subject[1:].partition(":")[0]


def bare_name(subject: str) -> str:
    """The name within the context; nothing for a context by itself."""
    return subject[1:].partition(":")[2] if subject.startswith(_PREFIX) else subject


def context_name(context: str) -> str:
    """A context as the subject that its settings are kept under; nothing for the default one."""
    return _written(context, "")


def within(context: str, subject: str) -> str:
    """A subject as it is meant by somebody in ``context``: only a name without one is taken to be there."""
    return qualified(subject) if subject.startswith(_PREFIX) else _written(context, subject)


def is_context(subject: str) -> bool:
    """Whether it names a context and no subject in it."""
    return bare_name(subject) == ""


def has_prefix(subject: str, prefix: str) -> bool:
    """Whether a listing of ``prefix`` has the subject; ``:*:`` stands for every context."""
    if prefix.startswith(ANY_CONTEXT):
        return bare_name(subject).startswith(prefix.removeprefix(ANY_CONTEXT))
    if prefix.startswith(_PREFIX):
        return subject.startswith(qualified(prefix) if prefix.count(":") > 1 else prefix)
    return context_of(subject) == DEFAULT_CONTEXT and subject.startswith(prefix)


def is_valid(subject: str) -> bool:
    """Whether schemas may be registered, or settings made, under this name."""
    name = bare_name(subject)
    is_readable = subject.isprintable() and 0 < len(subject) <= NAME_LENGTH_MAX
    return is_readable and name not in RESERVED_NAMES


def _written(context: str, name: str) -> str:
    return name if context == DEFAULT_CONTEXT else f":{context}:{name}"
