"""Where an example runs: on a broker of its own, or on the cluster that ``--bootstrap-server`` names.

An example calls ``run`` with its own main function. A broker of its own is a real one, in a thread of this
process and with its data in memory; see docs/testing.md for what else it could be.
"""

import argparse
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from penstock import Admin
from penstock.testing import Broker

INTERRUPTED = 130
"""What shells expect of a program that was ended by Ctrl-C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Playground:
    """A cluster to play with."""

    bootstrap_servers: str
    broker: Broker | None
    """The example's own; None if the cluster is somebody else's."""

    @contextmanager
    def topic(
        self, prefix: str, *, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> Iterator[str]:
        """A new topic whose name nobody else has; deleted at the end, so that nothing is left behind."""
        name = f"{prefix}-{secrets.token_hex(3)}"
        with Admin(bootstrap_servers=self.bootstrap_servers) as admin:
            admin.create_topic(name, partitions=partitions, config=config)
            try:
                yield name
            finally:
                admin.delete_topics(name)


def run(main: Callable[[Playground], None], description: str | None) -> None:
    """Run an example; Ctrl-C ends it in good order."""
    bootstrap_servers = chosen_servers(description)
    with quiet_end():
        if bootstrap_servers is not None:
            main(Playground(bootstrap_servers=bootstrap_servers, broker=None))
            return
        with Broker() as broker:
            main(Playground(bootstrap_servers=broker.bootstrap_servers, broker=broker))


def chosen_servers(description: str | None) -> str | None:
    """The cluster that the command line names, if it does."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="a running cluster to use; otherwise the example starts a broker for itself",
    )
    server: str | None = parser.parse_args().bootstrap_server
    return server


@contextmanager
def quiet_end() -> Iterator[None]:
    """Turn Ctrl-C into one line and the exit code that shells expect."""
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        # A Ctrl-C that comes while librdkafka's binding calls us is only the cause of what comes out of it.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print("\nstopped")
        sys.exit(INTERRUPTED)
