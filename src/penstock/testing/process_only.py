"""Brokers and clusters of a pytest run with ``--penstock-process``: what needs a thread is skipped."""

from typing import NoReturn

import pytest

from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster


class ProcessBroker(Broker):
    """A process; tests that would look into it are skipped."""

    def _check_thread(self, what: str) -> None:
        _skip(what)


class ProcessCluster(Cluster):
    """Processes; tests that would look into them are skipped."""

    def _check_thread(self, what: str) -> None:
        _skip(what)


def _skip(what: str) -> NoReturn:
    pytest.skip(f"With --penstock-process this test cannot run: {what} a broker in the test's own process.")
