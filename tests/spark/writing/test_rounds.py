"""Batches gathered into rounds."""

from tests.spark.writing.arrow_rows import arrow_rows

from penstock.spark.writing.rounds import rounds


def test_rounds_hold_the_same_rows_in_the_same_order() -> None:
    batches = [arrow_rows(value=[f"{number}-{index}" * 10 for index in range(10)]) for number in range(20)]

    made = list(rounds(batches, size_bytes=batches[0].nbytes * 3))
    assert [batch.num_rows for batch in made] == [30, 30, 30, 30, 30, 30, 20]
    values = [value for batch in made for value in batch.column("value").to_pylist()]
    assert values == [value for batch in batches for value in batch.column("value").to_pylist()]


def test_empty_batches_make_no_round() -> None:
    assert list(rounds([arrow_rows(value=[]), arrow_rows(value=[])])) == []
