"""The vectors of the RFCs, the broker's side after them, and everything that a broker may say wrongly."""

import base64
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wire_client.security.scram_server import ScramServer

from penstock.model.errors import UsageError
from penstock.wire_client.security.scram import ITERATIONS_MAX, ScramError, ScramStart
from penstock.wire_client.security.security import Login, Mechanism
from penstock.wire_client.security.steps import PlainStep, first_step

NONCE = "rOprNGfwEbeRWgbNEkqO"
PENCIL = Login(mechanism=Mechanism.SCRAM_SHA_256, username="user", password="pencil")
FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_sha_256_says_what_rfc_7677_says() -> None:
    start = ScramStart(PENCIL, NONCE)
    proof = start.follow(FIRST)

    assert start.message == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert proof.message == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    proof.follow(FINAL)


def test_sha_1_of_rfc_5802_is_not_spoken() -> None:
    with pytest.raises(ValueError, match="SCRAM-SHA-1"):
        Mechanism("SCRAM-SHA-1")


@pytest.mark.parametrize("mechanism", [Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_name_and_password_is_proved_to_both_sides(mechanism: Mechanism, data: st.DataObject) -> None:
    words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
    login = Login(mechanism=mechanism, username=data.draw(words), password=data.draw(words))
    digest = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[mechanism]
    server = ScramServer(digest, {login.username: login.password})

    start = first_step(login, NONCE)
    proof = start.follow(server.first(start.message))
    assert proof is not None

    assert proof.follow(server.final(proof.message)) is None
    assert server.username == login.username


@pytest.mark.parametrize(
    ("challenge", "said"),
    [
        (b"", "something else than SCRAM"),
        (b"\xff\xfe", "something else than text"),
        (b"m=ext," + FIRST, "something else than SCRAM"),
        (FIRST.replace(b"r=rO", b"r=xx"), "not ours"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "not ours and its own"),
        (FIRST.replace(b"W22Z", b"%%%%"), "base64"),
        (FIRST.replace(b"4096", b"4095"), "wants 4095 iterations"),
        (FIRST.replace(b"4096", str(ITERATIONS_MAX + 1).encode()), "and from 4096 to 262144 are made"),
        (FIRST.replace(b"4096", b"99999999999"), "something else than SCRAM"),
        (FIRST.replace(b"4096", b"-1"), "something else than SCRAM"),
    ],
)
def test_first_answer_that_no_broker_gives_is_refused(challenge: bytes, said: str) -> None:
    with pytest.raises(ScramError, match=said):
        ScramStart(PENCIL, NONCE).follow(challenge)


@pytest.mark.parametrize(
    ("challenge", "said"),
    [
        (b"v=" + base64.b64encode(bytes(32)), "not who it should be"),
        (b"v=6rri", "not who it should be"),
        (b"v=%", "base64"),
        (b"e=invalid-proof", "refused the proof: invalid-proof"),
        (b"", "ended with something else"),
    ],
)
def test_broker_that_does_not_prove_itself_is_refused(challenge: bytes, said: str) -> None:
    with pytest.raises(ScramError, match=said):
        ScramStart(PENCIL, NONCE).follow(FIRST).follow(challenge)


@given(st.binary(max_size=200))
def test_no_bytes_make_more_than_a_refusal(challenge: bytes) -> None:
    with pytest.raises(ScramError):
        ScramStart(PENCIL, NONCE).follow(challenge)
    with pytest.raises(ScramError):
        ScramStart(PENCIL, NONCE).follow(FIRST).follow(challenge)


def test_plain_says_name_and_password_and_is_done() -> None:
    step = first_step(Login(mechanism=Mechanism.PLAIN, username="tim", password="tanstaaftanstaaf"), NONCE)
    assert isinstance(step, PlainStep)
    assert step.message == b"\0tim\0tanstaaftanstaaf"  # RFC 4616, section 4.
    assert step.follow(b"") is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(("username", "password"), [("", "x"), ("a\0b", "x"), ("a", "x\0y")])
def test_login_that_could_be_read_as_another_is_refused(username: str, password: str) -> None:
    with pytest.raises(UsageError) as caught:
        Login(mechanism=Mechanism.PLAIN, username=username, password=password)
    assert not re.search("x", str(caught.value).replace("zero", ""))


def test_nothing_that_is_printed_has_a_secret_in_it() -> None:
    start = ScramStart(PENCIL, NONCE)
    printed = f"{PENCIL} {start} {start.follow(FIRST)} {PlainStep(PENCIL)}"
    assert "pencil" not in printed
    assert NONCE not in printed
