"""Nothing that people use is undocumented, and pages lead somewhere."""

import re
from pathlib import Path

import pytest
from tests.meta.source_tree import ROOT

import penstock
import penstock.testing
from penstock.broker.metrics.table import METRICS
from penstock.cli.tree import COMMANDS

DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("decisions/*.md"), *DOCS.glob("reference/*.md")]
)
GUIDES = [page for page in PAGES if page.parent in (ROOT, DOCS)]

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
METRIC = re.compile(r"\b(?:penstock|kafka)_[a-z_]*[a-z]\b")
SUFFIXES = ("_bucket", "_sum", "_count")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    broken = [
        target
        for target in LINK.findall(_without_code(page.read_text()))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_guide_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text()
    assert [
        page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index
    ] == []


@pytest.mark.parametrize("module", ["penstock", "penstock.testing", "penstock.spark"])
def test_every_public_name_is_in_the_reference(module: str) -> None:
    text = (ROOT / "API_REFERENCE.md").read_text()
    section = text.split(f"## `{module}`\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == sorted(_public_names(module))


def test_every_command_is_shown_in_a_guide() -> None:
    text = "\n".join(page.read_text() for page in GUIDES)
    assert [name for name in COMMANDS if f"penstock {name}" not in text] == []


def test_guides_name_only_metrics_that_exist() -> None:
    known = set(METRICS)
    words = {word for page in GUIDES for word in METRIC.findall(page.read_text())}
    candidates = {word for word in words if any(word.startswith(prefix) for prefix in _families(known))}
    assert {word for word in candidates if _base(word, known) not in known} == set()


def _families(known: set[str]) -> set[str]:
    """How names of metrics begin: other words with an underscore are not meant."""
    return {"_".join(name.split("_")[:2]) + "_" for name in known}


def _base(word: str, known: set[str]) -> str:
    for suffix in SUFFIXES:
        if word not in known and word.endswith(suffix):
            return word.removesuffix(suffix)
    return word


def _public_names(module: str) -> list[str]:
    if module == "penstock.spark":
        source = (ROOT / "src" / "penstock" / "spark" / "__init__.py").read_text()
        listed = source.split("__all__ = [")[1].split("]")[0]
        return re.findall(r'"(\w+)"', listed)
    return list({"penstock": penstock, "penstock.testing": penstock.testing}[module].__all__)


def _without_code(text: str) -> str:
    """Without blocks of code, in which brackets mean other things."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
