"""The other side of ``telling_process``: what such a program uses to hear its orders and to tell."""

import json
import sys
import threading
from typing import Any


def tell(event: str, **facts: Any) -> None:
    """One event; it is out when this returns."""
    print(json.dumps({"event": event, **facts}), flush=True)


def given_orders() -> dict[str, Any]:
    """The argument of this process."""
    orders: dict[str, Any] = json.loads(sys.argv[1])
    return orders


def end_of_input() -> threading.Event:
    """Set when the test wants this program to end, or is gone."""
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    return ended
