"""Orders and the events that tell of them, written in one transaction: neither exists without the other."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from orders.model import Order

_TABLES = """
CREATE TABLE IF NOT EXISTS orders (number TEXT PRIMARY KEY, customer TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY, key TEXT NOT NULL, value BLOB NOT NULL);
"""


class Event(NamedTuple):
    """Something that is to be told."""

    id: int
    key: str
    value: bytes


class Outbox:
    """The service's database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._connect()) as database, database:
            database.executescript(_TABLES)

    def place(self, order: Order) -> None:
        """Take an order; an order that was taken before is refused with ``ValueError``."""
        try:
            with closing(self._connect()) as database, database:
                database.execute(
                    "INSERT INTO orders VALUES (?, ?, ?)", (order.number, order.customer, order.cents)
                )
                database.execute(
                    "INSERT INTO outbox (key, value) VALUES (?, ?)", (order.customer, order.to_bytes())
                )
        except sqlite3.IntegrityError as error:
            raise ValueError(f"order {order.number} was taken before") from error

    def pending(self) -> list[Event]:
        """What was not told yet, oldest first."""
        with closing(self._connect()) as database:
            rows = database.execute("SELECT id, key, value FROM outbox ORDER BY id LIMIT 100")
            return [Event(*row) for row in rows]

    def forget(self, event: Event) -> None:
        """It was told."""
        with closing(self._connect()) as database, database:
            database.execute("DELETE FROM outbox WHERE id = ?", (event.id,))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)
