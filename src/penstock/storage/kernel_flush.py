"""Flushing many files at once without a thread: Linux' own asynchronous ``fdatasync``.

A flush thread must take Python's interpreter lock when it starts and when it comes back, and a busy loop
gives it up only now and then; with a flush before every acknowledgement that costs more than the flush. So
the kernel is asked to flush (``io_submit`` with FDSYNC) and says through an event descriptor when it has: the
loop never waits, and no other thread of ours runs. Measured in docs/decisions/0008.

Not every kernel, processor or sandbox has it; ``KernelFlush.open`` answers None there, and threads do it.
"""

import ctypes
import os
import platform
from collections.abc import Sequence

from penstock.model.errors import FlushFailedError

IN_FLIGHT_MAX = 1024

_FDSYNC = 3  # IOCB_CMD_FDSYNC
_NOTIFY = 1  # IOCB_FLAG_RESFD
_EVENT_COUNTER_BYTES = 8


class _Calls:
    """The numbers of the system calls, which C libraries do not wrap."""

    def __init__(self, setup: int, destroy: int, get_events: int, submit: int) -> None:
        self.setup = setup
        self.destroy = destroy
        self.get_events = get_events
        self.submit = submit


_CALLS = {"x86_64": _Calls(206, 207, 208, 209), "aarch64": _Calls(0, 1, 4, 2)}


class _ControlBlock(ctypes.Structure):
    """``struct iocb`` of a little-endian machine."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_int32),
        ("opcode", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("descriptor", ctypes.c_uint32),
        ("buffer", ctypes.c_uint64),
        ("byte_count", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("event_descriptor", ctypes.c_uint32),
    )


class _Event(ctypes.Structure):
    """``struct io_event``."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("object", ctypes.c_uint64),
        ("result", ctypes.c_int64),
        ("result2", ctypes.c_int64),
    )


class KernelFlush:
    """One queue of flushes. Not for several threads."""

    def __init__(self, calls: _Calls, context: int, event_descriptor: int) -> None:
        self._calls = calls
        self._context = ctypes.c_ulong(context)
        self.event_descriptor = event_descriptor
        self._blocks = (_ControlBlock * IN_FLIGHT_MAX)()
        self._pointers = (ctypes.c_void_p * IN_FLIGHT_MAX)(
            *(ctypes.addressof(block) for block in self._blocks)
        )
        for block in self._blocks:
            block.opcode = _FDSYNC
            block.flags = _NOTIFY
            block.event_descriptor = event_descriptor
        self._events = (_Event * IN_FLIGHT_MAX)()

    @classmethod
    def open(cls) -> "KernelFlush | None":
        """A queue, if this system has such a thing."""
        calls = _CALLS.get(platform.machine())
        if calls is None:
            return None
        context = ctypes.c_ulong(0)
        if _system_call(calls.setup, ctypes.c_long(IN_FLIGHT_MAX), ctypes.byref(context)) != 0:
            return None
        queue = cls(calls, context.value, os.eventfd(0, os.EFD_CLOEXEC))
        if queue._works():
            return queue
        queue.close()
        return None

    def _works(self) -> bool:
        """Try it on a file in memory: older kernels have the queue, but cannot flush with it."""
        descriptor = os.memfd_create("penstock-flush-probe", os.MFD_CLOEXEC)
        try:
            return self.submit([descriptor]) == 1 and self.completed() == [(0, 0)]
        finally:
            os.close(descriptor)

    def submit(self, descriptors: Sequence[int]) -> int:
        """Begin to flush these; returns how many of them, from the first, were taken.

        Each is known by its place in ``descriptors`` when it is done. The queue must be empty before. When
        none was taken the caller flushes the first one itself, and so learns what is wrong with it.
        """
        wanted = min(len(descriptors), IN_FLIGHT_MAX)
        for place in range(wanted):
            block = self._blocks[place]
            block.data = place
            block.descriptor = descriptors[place]
        taken = _system_call(self._calls.submit, self._context, ctypes.c_long(wanted), self._pointers)
        return max(taken, 0)

    def completed(self) -> list[tuple[int, int]]:
        """Flushes that have ended since the last call: place and error number, 0 for success."""
        os.read(self.event_descriptor, _EVENT_COUNTER_BYTES)
        count = _system_call(
            self._calls.get_events,
            self._context,
            ctypes.c_long(0),
            ctypes.c_long(IN_FLIGHT_MAX),
            self._events,
            None,
        )
        if count < 0:
            raise FlushFailedError(
                f"The kernel does not tell about flushes: {os.strerror(ctypes.get_errno())}."
            )
        return [(self._events[place].data, -self._events[place].result) for place in range(count)]

    def close(self) -> None:
        """Give the queue back; waits for what is under way."""
        _system_call(self._calls.destroy, self._context)
        os.close(self.event_descriptor)


def _system_call(number: int, *arguments: object) -> int:
    result: int = _LIBRARY.syscall(ctypes.c_long(number), *arguments)
    return result


_LIBRARY = ctypes.CDLL(None, use_errno=True)
_LIBRARY.syscall.restype = ctypes.c_long
