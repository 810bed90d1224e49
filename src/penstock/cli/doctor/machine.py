"""What the operating system gives a process: open files, and a clock that is right."""

import ctypes
import resource
import time

from penstock.cli.doctor.finding import Finding, ok, problem, warning

OPEN_FILES_MIN = 256
OPEN_FILES_WANTED = 4096

_BUILT_AFTER_SECONDS = 1_735_689_600
"""2025 began then: a clock before it has never been set."""

_CLOCK_UNSYNCHRONISED = 5
_TIMEX_BYTES = 512
"""More than the kernel's structure has on any machine."""


def check_open_files() -> Finding:
    """Every connection and every segment that is read takes a descriptor."""
    # A broker raises its own limit as far as it may, so the hard one counts.
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return ok("limits", "any number of open files")
    if limit >= OPEN_FILES_WANTED:
        return ok("limits", f"up to {limit} open files")
    text = f"Only {limit} files may be open, connections included."
    advice = "Raise the hard limit: `ulimit -Hn 65536`, or LimitNOFILE=65536 in a systemd unit."
    return problem("limits", text, advice) if limit < OPEN_FILES_MIN else warning("limits", text, advice)


def check_clock() -> Finding:
    """Retention and searches by time go by the broker's clock, or by that of producers."""
    if time.time() < _BUILT_AFTER_SECONDS:
        return problem("clock", f"The clock says {time.strftime('%Y-%m-%d')}.", "Set it, best by NTP.")
    if _is_unsynchronised():
        return warning(
            "clock",
            "Nothing keeps the clock right.",
            "Run chrony or systemd-timesyncd: retention and timestamps go by it.",
        )
    return ok("clock", f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC")


def _is_unsynchronised() -> bool:
    """Whether the kernel says so; False where it cannot be asked."""
    try:
        adjtimex = ctypes.CDLL(None).adjtimex
    except (OSError, AttributeError):
        return False
    return int(adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))) == _CLOCK_UNSYNCHRONISED
