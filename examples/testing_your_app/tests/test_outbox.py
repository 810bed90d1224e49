"""The outbox needs no broker, and so gets none."""

import pytest
from orders.model import Order
from orders.outbox import Outbox


def test_order_that_is_placed_is_pending(outbox: Outbox, order: Order) -> None:
    outbox.place(order)
    (event,) = outbox.pending()
    assert event.key == "ada"
    assert Order.from_bytes(event.value) == order


def test_order_that_is_placed_twice_is_told_once(outbox: Outbox, order: Order) -> None:
    outbox.place(order)
    with pytest.raises(ValueError, match="A-1"):
        outbox.place(order)
    assert len(outbox.pending()) == 1


def test_event_that_was_told_is_not_pending(outbox: Outbox, order: Order) -> None:
    outbox.place(order)
    outbox.forget(outbox.pending()[0])
    assert outbox.pending() == []


def test_anything_else_is_no_order() -> None:
    for data in (b"{", b'{"number": "A-1"}', b'{"number": "A-1", "customer": "ada", "cents": 1, "x": 2}'):
        with pytest.raises(ValueError):  # noqa: PT011
            Order.from_bytes(data)
