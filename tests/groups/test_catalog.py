from collections.abc import Callable

import pytest
from tests.groups.shell import FixedTopics

from penstock.groups.catalog import TopicCatalog
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PATTERNS_PER_SHARD_MAX


class Compiler:
    """A language of patterns: a prefix. Counts what it is asked."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.compared: list[str] = []

    def __call__(self, pattern: str) -> Callable[[str], bool]:
        if not pattern:
            raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION)
        self.compiled.append(pattern)

        def matches(text: str) -> bool:
            self.compared.append(text)
            return text.startswith(pattern)

        return matches


def test_pattern_is_compared_only_with_names_that_are_new() -> None:
    compiler = Compiler()
    catalog = TopicCatalog(FixedTopics({"orders": 1, "others": 1, "payments": 1}), compiler)
    assert catalog.resolve("o") == {"orders", "others"}
    assert catalog.resolve("o") == {"orders", "others"}
    assert len(compiler.compared) == 3
    catalog.replace(FixedTopics({"orders": 1, "payments": 2, "offers": 1}))
    assert catalog.resolve("o") == {"orders", "offers"}
    assert compiler.compared[3:] == ["offers"]
    assert compiler.compiled == ["o"]


def test_version_grows_whenever_topics_are_replaced() -> None:
    catalog = TopicCatalog(FixedTopics({}), Compiler())
    before = catalog.version
    catalog.replace(FixedTopics({"orders": 1}))
    assert catalog.version > before
    assert catalog.topics.partition_count("orders") == 1


def test_pattern_that_is_none_is_refused_and_not_remembered() -> None:
    catalog = TopicCatalog(FixedTopics({}), Compiler())
    for _ in range(2):
        with pytest.raises(ApiError):
            catalog.resolve("")


def test_patterns_used_last_are_remembered() -> None:
    compiler = Compiler()
    catalog = TopicCatalog(FixedTopics({"orders": 1}), compiler)
    for number in range(PATTERNS_PER_SHARD_MAX):
        catalog.resolve(f"p{number}")
    catalog.resolve("p0")
    catalog.resolve("one more")
    compiler.compiled.clear()
    catalog.resolve("p0")
    assert compiler.compiled == []
    catalog.resolve("p1")
    assert compiler.compiled == ["p1"]
