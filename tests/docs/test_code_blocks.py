"""Every block of code on the pages for users works as it stands.

CONTRIBUTING.md says how blocks are written so that they can be run here.
"""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.docs.code_blocks import EXECUTED, PAGES, ROOT, SHOWN, Block, blocks_of, runs_of
from tests.docs.shell_blocks import SECONDS_MAX, Shell, commands_of, is_only_checked

from penstock.spark.sessions.java import search_java
from penstock.testing import Broker

WITH_SPARK = re.compile(r"\bpenstock\.spark\b|\bpyspark\b|^penstock pipeline run\b", re.MULTILINE)
"""What starts a Spark, which takes its time: pages with such a block belong to the tests of Spark."""

SPARK_SECONDS_MAX = 300


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def needs_spark(page: Path) -> bool:
    return any(WITH_SPARK.search(code_of(block)) for _, blocks in runs_of(page) for block in blocks)


def code_of(block: Block) -> str:
    """Without what the page shows of its output."""
    if block.language == "python":
        return block.text
    return "\n".join(command.line for command in commands_of(block) if not is_only_checked(command))


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.spark, pytest.mark.timeout(SPARK_SECONDS_MAX)] if needs_spark(page) else []


WITH_BLOCKS = [
    pytest.param(page, marks=marks_of(page), id=named(page)) for page in PAGES if any(runs_of(page))
]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert not [
        f"{each}: {each.language!r}" for each in blocks_of(page) if each.language not in EXECUTED + SHOWN
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_of_the_page_works_as_it_stands(page: Path, tmp_path: Path) -> None:
    if needs_spark(page) and search_java(os.environ).found is None:
        pytest.skip("there is no Java 17 or newer, which Spark needs")
    if page.name == "cli.md":
        write_orders(tmp_path)
    with broker_for(page, tmp_path / "data") as bootstrap:
        shell = Shell(directory=tmp_path, bootstrap=bootstrap)
        for language, blocks in runs_of(page):
            if language == "python":
                run_python(blocks, shell)
            else:
                for block in blocks:
                    shell.run(block)


@contextmanager
def broker_for(page: Path, data: Path) -> Iterator[str]:
    """Where it listens; pages of which nothing is run but checked have none."""
    blocks = [block for _, run in runs_of(page) for block in run]
    if not any(block.language == "python" for block in blocks) and all(
        is_only_checked(command) for block in blocks for command in commands_of(block)
    ):
        yield "127.0.0.1:1"
        return
    with Broker(process=True, directory=data, settings={"log.retention.ms": -1}) as broker:
        yield broker.bootstrap_servers


def run_python(blocks: list[Block], shell: Shell) -> None:
    runner = Path(__file__).with_name("python_blocks.py")
    lines = [str(block.line) for block in blocks]
    done = subprocess.run(
        [sys.executable, "-W", "error", str(runner), str(blocks[0].page), *lines],
        cwd=shell.directory,
        env=shell.environment(shell.bootstrap),
        capture_output=True,
        text=True,
        timeout=SPARK_SECONDS_MAX - 20 if needs_spark(blocks[0].page) else 2 * SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def write_orders(directory: Path) -> None:
    """What the page on the command line takes for given; its screens are made with it, too."""
    specification = importlib.util.spec_from_file_location("screens", ROOT / "docs" / "screens.py")
    assert specification is not None
    assert specification.loader is not None
    screens = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(screens)
    screens.write_orders(directory / "orders.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "penstock topic describe nowhere\n"),
        ("sh", "make nonsense\n"),
        ("sh", "false | cat\n"),
        ("console", "$ penstock topic list\nError: but there is none\n"),
    ],
)
def test_commands_that_do_not_work_are_noticed(language: str, text: str, tmp_path: Path) -> None:
    block = Block(page=ROOT / "README.md", line=1, language=language, text=text)
    with Broker() as broker, pytest.raises(AssertionError):
        Shell(directory=tmp_path, bootstrap=broker.bootstrap_servers).run(block)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["import nonsense\n", "open('x', 'w')\n", "def test_one():\n    assert False\n"]
)
def test_python_that_does_not_work_is_noticed(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n```python\n{text}```\n")
    with pytest.raises(AssertionError, match=r"page\.md:4: this block does not work"):
        run_python(blocks_of(page), Shell(directory=tmp_path, bootstrap="127.0.0.1:1"))


def test_commands_are_told_from_what_they_print() -> None:
    text = "$ first \\\n  --more\nfine\n$ second\nError: no\nHint: yes\n"
    block = Block(page=ROOT / "README.md", line=1, language="console", text=text)
    found = [(" ".join(each.line.split()), each.is_to_fail) for each in commands_of(block)]
    assert found == [("first --more", False), ("second", True)]
