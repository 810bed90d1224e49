"""What command line tests share."""

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName


@pytest.fixture
def terminal(bootstrap: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Commands go to the shared broker."""
    return Terminal(bootstrap, capsys, monkeypatch)


@pytest.fixture
def topic(terminal: Terminal, unique: UniqueName) -> str:
    """A topic of one partition, so that records keep their order."""
    name = unique("cli")
    terminal.must("topic", "create", name, "--partitions", "1")
    return name
