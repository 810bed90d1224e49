"""The scripts, in real shells where there are any."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.terminal import COMMAND_SECONDS_MAX, Terminal

from penstock.cli.completion.scripts import SCRIPTS, Shell

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", list(Shell))
def test_completion_prints_the_script(terminal: Terminal, shell: Shell) -> None:
    assert terminal.must("completion", shell.value).output == SCRIPTS[shell]


@pytest.mark.parametrize("shell", list(Shell))
def test_script_is_understood_by_its_shell(shell: Shell, tmp_path: Path) -> None:
    program = shutil.which(shell.value)
    if program is None:
        pytest.skip(f"there is no {shell.value} here")
    path = tmp_path / "script"
    path.write_text(SCRIPTS[shell])

    subprocess.run([program, "-n", str(path)], check=True, timeout=COMMAND_SECONDS_MAX)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("to", ["topic"]),
        ("topic desc", ["describe"]),
        ("consume t --isolation-level ", ["read_committed", "read_uncommitted"]),
        ("consume t --bootstrap-server 127.0.0.1:1 --isolation-level read_c", ["read_committed"]),
        ("produce t ", []),
    ],
)
def test_bash_completes_with_it(terminal: Terminal, typed: str, expected: list[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    command = Path(sys.executable).with_name("penstock")
    line = f"{command} {typed}"
    # compopt only works while a shell completes: elsewhere it complains and changes nothing.
    program = (
        f"source <('{command}' completion bash)\nCOMP_LINE='{line}'\nCOMP_POINT={len(line)}\n"
        "_penstock 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        [bash, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=terminal.environment,
        timeout=COMMAND_SECONDS_MAX,
    )

    assert done.stdout.split() == expected
