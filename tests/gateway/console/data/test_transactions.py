"""Transactions as JSON: an open one, aborting it, and none that hang."""

from urllib.parse import quote

import httpx2
import pytest
from tests.conftest import UniqueName

from penstock.client import PenstockClientError, Producer


@pytest.mark.parametrize("ending", ["", "a/b c?#%", "x/abort"])
def test_open_transaction_is_told_and_aborted(
    api: httpx2.Client, bootstrap: str, unique: UniqueName, ending: str
) -> None:
    name, topic = f"{unique('writer')}{ending}", unique("ledger")
    where = f"/transactions/{quote(name, safe='')}"
    with Producer(bootstrap_servers=bootstrap, transactional_id=name) as producer:
        transaction = producer.transaction()
        producer.send(topic, b"x", partition=0).result(10)

        listed = api.get("/transactions").json()["transactions"]
        (line,) = (each for each in listed if each["transactional_id"] == name)
        assert line["state"] == "Ongoing"
        assert line["running_ms"] >= 0
        told = api.get(where).json()
        assert told["partitions"] == [{"topic": topic, "partition": 0, "start_offset": 0}]
        assert told["is_open"]

        assert api.post(f"{where}/abort", json={"confirm": "x"}).status_code == 422
        assert api.post(f"{where}/abort", json={"confirm": name}).json()["outcome"] == "aborted"
        assert api.get(where).json()["is_open"] is False
        with pytest.raises(PenstockClientError):
            transaction.commit()


def test_transactional_id_that_is_not_there_is_404(api: httpx2.Client) -> None:
    assert api.get("/transactions/nobody").status_code == 404
    assert api.post("/transactions/nobody/abort", json={"confirm": "nobody"}).status_code == 404


def test_transactions_that_are_well_do_not_hang(api: httpx2.Client) -> None:
    assert api.get("/hanging-transactions").json() == {"transactions": []}
