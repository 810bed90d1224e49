import errno

import pytest

from penstock.model.errors import UsageError
from penstock.storage.failpoints import Failpoint, parse_failpoints


def test_parse_failpoints_reads_every_part() -> None:
    text = "flush:error=EIO:after=5:path=orders-0; write:error=ENOSPC:count=2 ;flush:delay=15ms;open:kill;"
    assert parse_failpoints(text) == [
        Failpoint(operation="flush", error_number=errno.EIO, after=5, path_part="orders-0"),
        Failpoint(operation="write", error_number=errno.ENOSPC, count=2),
        Failpoint(operation="flush", delay_seconds=0.015),
        Failpoint(operation="open", kills=True),
    ]


def test_parse_failpoints_reads_seconds() -> None:
    assert parse_failpoints("read:delay=1.5s")[0].delay_seconds == 1.5


@pytest.mark.parametrize(
    "text",
    [
        "jump",
        "flush:error=EWHAT",
        "flush:error",
        "flush:delay=5",
        "flush:delay=fast",
        "flush:after=x",
        "flush:count=",
        "flush:colour=red",
        "flush:",
    ],
)
def test_parse_failpoints_refuses_nonsense_and_quotes_it(text: str) -> None:
    with pytest.raises(UsageError, match="PENSTOCK_FAILPOINTS"):
        parse_failpoints(text)


def test_failpoint_strikes_after_the_given_number_and_only_so_often() -> None:
    failpoint = parse_failpoints("flush:after=1:count=2:path=orders")[0]
    assert not failpoint.strikes("write", "/orders")
    assert not failpoint.strikes("flush", "/other")
    assert [failpoint.strikes("flush", "/orders") for _ in range(5)] == [False, True, True, False, False]
