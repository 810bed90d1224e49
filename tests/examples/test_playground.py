"""What examples have in common."""

import sys

import pytest
from tests.examples.running import EXAMPLES


@pytest.mark.parametrize("cause", [None, SystemError("flush returned NULL")])
def test_ctrl_c_is_one_line_however_the_binding_tells_of_it(
    cause: Exception | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    import playground

    with pytest.raises(SystemExit) as ended, playground.quiet_end():
        raise KeyboardInterrupt from cause
    assert ended.value.code == playground.INTERRUPTED
    assert capsys.readouterr().out == "\nstopped\n"


def test_what_is_no_ctrl_c_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    import playground

    with pytest.raises(SystemError), playground.quiet_end():
        raise SystemError("a bug")
