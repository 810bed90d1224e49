"""Runs Python blocks of a page, each as a program of its own, in one process: imports are paid for once.

    python python_blocks.py PAGE LINE...

A block with tests in it is run by pytest. What goes wrong is told with the page's own lines.
"""

import gc
import sys
import traceback
from importlib.metadata import entry_points
from pathlib import Path

import pytest


def main(page: str, numbers: list[int]) -> int:
    """Run the blocks that begin in these lines; whether one of them failed."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.docs.code_blocks import Block, blocks_of

    blocks: dict[int, Block] = {block.line: block for block in blocks_of(Path(page))}
    for number in numbers:
        text = blocks[number].text
        is_good = run_tests(text, number) if "def test_" in text else run_program(text, page, number)
        if not is_good:
            print(f"{page}:{number}: this block does not work", file=sys.stderr)
            return 1
    return 0


def run_program(text: str, page: str, number: int) -> bool:
    """Run a block as it stands; also what Python only mentions, such as a file left open, is a failure."""
    mentioned: list[str] = []
    sys.unraisablehook = lambda what: mentioned.append(f"{what.exc_value!r} in {what.object!r}")
    try:
        exec(compile("\n" * (number - 1) + text, page, "exec"), {"__name__": "__main__"})
    except Exception:
        traceback.print_exc()
        return False
    gc.collect()
    print(*mentioned, sep="\n", end="", file=sys.stderr)
    return not mentioned


def run_tests(text: str, number: int) -> bool:
    """Run a block as a file of tests, with our fixtures."""
    path = Path(f"test_block_{number}.py")
    path.write_text(text)
    is_installed = any(each.name == "penstock" for each in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "penstock.testing.plugin"]
    return pytest.main(["-q", "-p", "no:cacheprovider", *plugin, str(path)]) == pytest.ExitCode.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [int(number) for number in sys.argv[2:]]))
