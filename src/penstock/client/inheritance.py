"""What a child of ``fork`` has from its parent: clients without the threads that do their work.

librdkafka has threads of its own, which are not in the child. Whoever waits for them there waits for ever,
closing included, and giving back the memory ends the process. So a client is closed in the child without a
word to librdkafka, and what belongs to that is never freed there; in the parent it goes on.
"""

import os
from typing import Protocol
from weakref import WeakSet

BELONGS_TO_PARENT = "This {} was made before the process was forked, and belongs to the parent"


class Inheritable(Protocol):
    """A client that may be there when the process is forked."""

    def leave_to_parent(self) -> object:
        """Be closed from now on; what of it belongs to librdkafka."""


INHERITABLE: "WeakSet[Inheritable]" = WeakSet()


def _leave_to_parent() -> None:
    import ctypes  # only here: few processes fork

    for client in list(INHERITABLE):
        # One reference more than there are, so that not even the end of the interpreter frees it.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client.leave_to_parent()))
    INHERITABLE.clear()


os.register_at_fork(after_in_child=_leave_to_parent)
