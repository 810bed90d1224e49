"""Names and values of options, checked against the tables, with what to write instead."""

import pytest

from penstock.spark.options.definition import READS, Effect, Option, OptionError, Use
from penstock.spark.options.parsing import OPTIONS, connecting_options, parse_options

LIKELY_WRONG = {
    "integer": ["", "many", "1.5", "-7", str(2**64)],
    "boolean": ["", "yes", "1"],
    "duration": ["soon", "-5m", "5 fortnights"],
    "timestamp": ["", "yesterday", "-5", "1.5"],
    "timestamps": ["17", "{", '{"t":5}', '{"t":{"0":-1}}', '{"t":{"x":1}}'],
    "positions": ["", "middle", "17", "-1", "-2", "{", '{"t":5}', '{"t":{"0":-3}}', '{"t":{"0":"soon"}}'],
    "topics": ["", " , "],
    "pattern": ["", "("],
    "partitions": ["", "t", "[]", "{}", '{"t":0}', '{"t":["0"]}', '{"t":[-1]}'],
    "text": ["", " "],
}
"""For each kind of value what somebody may well write, and must be told."""


def acting() -> list[Option]:
    return [option for option in OPTIONS if option.effect is Effect.ACTS and not option.is_secret]


@pytest.mark.parametrize("option", acting(), ids=lambda option: option.name)
def test_wrong_value_is_named_with_the_option_and_what_it_takes(option: Option) -> None:
    wrong = LIKELY_WRONG.get(option.kind.name, ["neither of them"])
    for value in wrong:
        with pytest.raises(OptionError) as caught:
            parse_options({option.name: value}, option.uses)
        message = str(caught.value)
        assert option.name in message
        assert repr(value) in message
        assert option.kind.expected in message


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_says_in_a_sentence_what_it_means(option: Option) -> None:
    assert option.meaning[0].isupper()
    assert option.meaning.endswith(".")
    assert option.uses


@pytest.mark.parametrize(
    "option", [option for option in OPTIONS if option.default is not None], ids=lambda option: option.name
)
def test_every_default_is_a_value_that_the_option_takes(option: Option) -> None:
    assert option.default is not None
    assert parse_options({option.name: option.default}, option.uses) == parse_options({}, option.uses)


def test_no_option_is_there_twice() -> None:
    names = [option.name.lower() for option in OPTIONS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("option", acting(), ids=lambda option: option.name)
def test_names_in_lower_case_are_the_same_options(option: Option) -> None:
    wrong = LIKELY_WRONG.get(option.kind.name, ["neither of them"])[0]
    with pytest.raises(OptionError, match=f"Option {option.name} is"):
        parse_options({option.name.lower(): wrong}, option.uses)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("startingOffset", "startingOffsets"),
        ("subscribes", "subscribe"),
        ("kafka.isolation.levle", "kafka.isolation.level"),
        ("maxOffsetPerTrigger", "maxOffsetsPerTrigger"),
    ],
)
def test_unknown_option_is_named_with_the_nearest_that_there_is(name: str, meant: str) -> None:
    with pytest.raises(OptionError, match=f"no option '{name.lower()}'. Did you mean {meant}\\?"):
        parse_options({name: "1"}, READS)


def test_option_that_resembles_nothing_is_named() -> None:
    with pytest.raises(OptionError, match=r"There is no option 'zzzzzz'\.$"):
        parse_options({"zzzzzz": "1"}, READS)


def test_path_is_told_to_be_an_option() -> None:
    with pytest.raises(OptionError, match=r"There is no option 'path'\. .* name topics by options"):
        parse_options({"path": "orders"}, READS)


def test_option_of_writing_is_not_offered_for_reading() -> None:
    with pytest.raises(OptionError, match=r"There is no option 'topics'\.$"):
        parse_options({"topics": "orders"}, READS)


def test_property_of_kafka_without_its_prefix_is_told_to_have_one() -> None:
    with pytest.raises(OptionError, match=r"write kafka\.bootstrap\.servers"):
        parse_options({"bootstrap.servers": "localhost"}, READS)


REFUSED = [option for option in OPTIONS if option.effect is Effect.REFUSED]


@pytest.mark.parametrize("option", REFUSED, ids=lambda option: option.name)
def test_refused_option_says_what_to_do_instead(option: Option) -> None:
    with pytest.raises(OptionError, match=f"Option {option.name} cannot be used") as caught:
        parse_options({option.name: "x"}, option.uses)
    assert option.meaning in str(caught.value)


def test_connector_s_refusals_are_all_there() -> None:
    assert {option.name for option in REFUSED} >= {
        "kafka.auto.offset.reset",
        "kafka.key.deserializer",
        "kafka.value.deserializer",
        "kafka.enable.auto.commit",
        "kafka.interceptor.classes",
    }


@pytest.mark.parametrize("name", ["kafka.ssl.cipher.suites", "kafka.sasl.kerberos.service.name"])
def test_security_that_is_not_spoken_is_refused_rather_than_left_out(name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} cannot be used"):
        parse_options({name: "x"}, READS)


@pytest.mark.parametrize(
    "option", [option for option in OPTIONS if option.is_secret], ids=lambda option: option.name
)
def test_secret_is_taken_as_it_is_and_not_repeated(option: Option) -> None:
    assert parse_options({option.name.lower(): " with spaces "}, option.uses)[option.name] == " with spaces "
    with pytest.raises(OptionError, match=f"Option {option.name} cannot be read as it is") as caught:
        parse_options({option.name: ""}, option.uses)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "option",
    [option for option in OPTIONS if option.effect is Effect.IGNORED],
    ids=lambda option: option.name,
)
def test_option_without_effect_is_accepted_and_gone(option: Option) -> None:
    assert parse_options({option.name: "anything"}, option.uses) == parse_options({}, option.uses)


STREAM_ONLY = [option for option in OPTIONS if option.uses == {Use.STREAM_READ}]


@pytest.mark.parametrize("option", STREAM_ONLY, ids=lambda option: option.name)
def test_option_of_streams_is_ignored_by_a_batch_with_a_word(
    option: Option, caplog: pytest.LogCaptureFixture
) -> None:
    assert option.name not in parse_options({option.name: "1"}, {Use.BATCH_READ})
    assert f"Option {option.name} has no effect in a batch" in caplog.text


@pytest.mark.parametrize("name", ["endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"])
def test_end_of_a_stream_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"Option {name} is one of batch read, not of stream read"):
        parse_options({name: "5"}, {Use.STREAM_READ})


@pytest.mark.parametrize(("name", "use"), [("topic", Use.BATCH_READ), ("subscribe", Use.STREAM_WRITE)])
def test_option_of_reading_is_none_of_writing_and_the_other_way_round(name: str, use: Use) -> None:
    with pytest.raises(OptionError, match=f"Option {name} is one of .* not of {use}"):
        parse_options({name: "t"}, {use})


def test_options_of_connections_are_told_from_others() -> None:
    connecting = {"kafka.bootstrap.servers": "localhost", "KAFKA.SASL.PASSWORD": "sesame"}
    assert connecting_options({**connecting, "topic": "t", "kafka.isolation.level": "x"}) == connecting
