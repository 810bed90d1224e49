import subprocess
import sys

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PATTERN_BYTES_MAX
from penstock.model.patterns import compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [
        ("orders", "orders", True),
        ("orders", "orders-eu", False),
        ("order", "orders", False),
        ("orders.*", "orders-eu", True),
        ("^orders$", "orders", True),
        ("a|ab", "ab", True),
        ("(?i)ORDERS", "orders", True),
        ("ördërs", "ördërs", True),
        ("", "", True),
    ],
)
def test_pattern_matches_the_whole_text_or_not_at_all(pattern: str, text: str, is_match: bool) -> None:
    assert compile_pattern(pattern)(text) is is_match


@pytest.mark.parametrize(
    "pattern", ["(", "*", "[a", r"(a)\1", "(?=a)b", "((a{1000}){1000}){1000}", "(" * 2000]
)
def test_pattern_that_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(ApiError) as refusal:
        compile_pattern(pattern)
    assert refusal.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_pattern_as_long_as_allowed_is_taken_and_a_longer_one_refused() -> None:
    longest = "a" * PATTERN_BYTES_MAX
    assert compile_pattern(longest)(longest)
    with pytest.raises(ApiError, match=f"{PATTERN_BYTES_MAX} are allowed"):
        compile_pattern(longest + "a")


def test_pattern_that_would_take_for_ever_elsewhere_takes_no_time() -> None:
    assert not compile_pattern("(a*)*b")("a" * 249)


@pytest.mark.slow
def test_library_is_loaded_only_when_there_is_a_pattern() -> None:
    code = "import sys, penstock.model.patterns; sys.exit('re2' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
