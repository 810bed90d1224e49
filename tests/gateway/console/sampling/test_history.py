"""Numbers over time: gaps, the oldest that go, and names that are forgotten."""

from penstock.gateway.console.sampling.history import History


def test_series_has_gaps_before_a_name_appeared_and_where_it_was_missing() -> None:
    history = History()
    history.add(1, {"a": 1.0})
    history.add(2, {"a": 2.0, "b": 5.0})
    history.add(3, {"b": None})

    assert history.series("a") == [(1, 1.0), (2, 2.0), (3, None)]
    assert history.series("b") == [(1, None), (2, 5.0), (3, None)]
    assert history.latest("a") is None
    assert history.series("c") == []
    assert history.latest("c") is None


def test_oldest_moments_go_when_it_is_full() -> None:
    history = History(moments_max=3)
    for moment in range(10):
        history.add(moment, {"a": float(moment)})

    assert history.series("a") == [(7, 7.0), (8, 8.0), (9, 9.0)]
    assert history.latest("a") == 9.0


def test_names_are_bounded_and_those_that_are_gone_make_room() -> None:
    history = History(moments_max=2, names_max=2)
    history.add(1, {"a": 1.0, "b": 1.0, "c": 1.0})
    assert history.names() == ["a", "b"]

    for moment in (2, 3, 4):
        history.add(moment, {"b": 1.0, "c": 1.0})
    assert set(history.names()) == {"b", "c"}
    assert history.latest("c") == 1.0
