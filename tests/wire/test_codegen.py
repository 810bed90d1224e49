import pytest

from penstock.wire.codegen import Source


def test_source_becomes_a_function_with_its_constants() -> None:
    source = Source()
    source.open("def shout(text):")
    source.line(f"return text + {source.constant('mark', b'!')}")
    assert source.compile("shout", "test")(b"hey") == b"hey!"


def test_names_are_never_given_twice() -> None:
    source = Source()
    assert len({source.name("value") for _ in range(100)}) == 100


@pytest.mark.parametrize("value", [None, True, 7, "it's", ()])
def test_plain_constants_are_written_into_the_source(value: object) -> None:
    source = Source()
    assert eval(source.constant("x", value)) == value
    assert not source.constants


def test_traceback_names_what_was_generated() -> None:
    source = Source()
    source.open("def fail():")
    source.line("return 1 // 0")
    function = source.compile("fail", "decoder of Thing")
    with pytest.raises(ZeroDivisionError) as caught:
        function()
    assert caught.traceback[-1].frame.code.raw.co_filename == "<decoder of Thing>"
