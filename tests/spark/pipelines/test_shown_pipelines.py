"""Pipelines that pages and examples show have no mistakes."""

from pathlib import Path

import pytest
from tests.docs.code_blocks import PAGES, ROOT, Block, blocks_of

from penstock.spark.pipelines.loading import load_pipeline

EXAMPLES = sorted((ROOT / "examples").glob("*.yml"))
SHOWN = [block for page in PAGES for block in blocks_of(page) if "\nflows:" in block.text]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_pipeline_of_a_page_has_no_mistake(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yml"
    file.write_text(block.text)
    assert load_pipeline(file).flows


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_pipeline_of_an_example_has_no_mistake(path: Path) -> None:
    assert load_pipeline(path).flows


def test_there_are_some() -> None:
    assert len(SHOWN) >= 2
    assert EXAMPLES
