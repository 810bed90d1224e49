import pytest
from tests.groups.actors import protocols

from penstock.groups.member import Member, Parked
from penstock.groups.membership import Membership
from penstock.model.errors import InvariantError

PARKED = Parked(token=1, api_version=9)


def make_member(name: str, *supported: str, instance: str | None = None, joined: bool = False) -> Member:
    return Member(
        member_id=name,
        group_instance_id=instance,
        client_id=name,
        client_host="/127.0.0.1",
        rebalance_timeout_ms=1_000,
        session_timeout_ms=1_000,
        protocols=protocols(*(supported or ("range",))),
        parked_join=PARKED if joined else None,
    )


def make_membership(*members: Member) -> Membership:
    membership = Membership()
    for member in members:
        membership.add(member)
    return membership


def test_members_are_kept_in_the_order_they_came() -> None:
    members = make_membership(make_member("b"), make_member("a"))
    assert [member.member_id for member in members] == ["b", "a"]
    assert len(members) == 2
    assert "a" in members
    assert members.get("c") is None


def test_member_that_is_there_cannot_be_added_again() -> None:
    members = make_membership(make_member("a", instance="desk"))
    with pytest.raises(InvariantError, match="already"):
        members.add(make_member("a"))
    with pytest.raises(InvariantError, match="already"):
        members.add(make_member("b", instance="desk"))


def test_static_member_is_found_by_its_instance() -> None:
    members = make_membership(make_member("a", instance="desk"))
    assert members.static_id("desk") == "a"
    assert members.static_id("chair") is None
    assert members.static_id(None) is None
    members.remove("a")
    assert members.static_id("desk") is None


def test_all_have_joined_when_nobody_is_missing_or_expected() -> None:
    members = make_membership(make_member("a", joined=True), make_member("b"))
    seen = [members.have_all_joined]
    members.park_join(members["b"], PARKED)
    members.park_join(members["b"], PARKED)
    seen.append(members.have_all_joined)
    assert members.joined_count == 2
    members.add_pending("c")
    seen.append(members.have_all_joined)
    members.add(make_member("c", joined=True))
    seen.append(members.have_all_joined)
    assert seen == [False, True, False, True]
    members.validate()


def test_first_joined_is_the_oldest_of_those_who_wait() -> None:
    members = make_membership(make_member("a"), make_member("b"), make_member("c"))
    assert members.first_joined() is None
    members.park_join(members["c"], PARKED)
    members.park_join(members["b"], PARKED)
    assert members.first_joined() is members["b"]
    assert members.unpark_join(members["b"]) == PARKED
    assert members.unpark_join(members["b"]) is None
    assert members.first_joined() is members["c"]


def test_protocol_needs_the_support_of_all() -> None:
    members = make_membership(make_member("a", "range", "sticky"), make_member("b", "sticky"))
    assert members.do_all_support_one_of(["range", "sticky"], besides=None)
    assert not members.do_all_support_one_of(["range"], besides=None)
    assert not members.do_all_support_one_of([], besides=None)


def test_member_that_changes_need_not_agree_with_what_it_was() -> None:
    members = make_membership(make_member("a", "range", "sticky"), make_member("b", "sticky"))
    assert members.do_all_support_one_of(["range"], besides="b")
    assert not members.do_all_support_one_of(["range"], besides="a")
    assert not members.do_all_support_one_of(["other"], besides="b")
    alone = make_membership(make_member("a", "range"))
    assert alone.do_all_support_one_of(["other"], besides="a")
    assert not alone.do_all_support_one_of(["other"], besides="stranger")


def test_vote_is_won_by_most_first_choices_among_what_all_support() -> None:
    members = make_membership(
        make_member("a", "own", "range", "sticky"),
        make_member("b", "sticky", "range"),
        make_member("c", "sticky", "range"),
    )
    assert members.choose_protocol() == "sticky"


def test_tied_vote_is_won_by_what_was_voted_for_first() -> None:
    members = make_membership(make_member("a", "sticky", "range"), make_member("b", "range", "sticky"))
    assert members.choose_protocol() == "sticky"


def test_changed_protocols_are_counted_anew() -> None:
    members = make_membership(make_member("a", "range"), make_member("b", "range"))
    members.change_protocols(members["a"], protocols("sticky", "sticky"))
    assert not members.do_all_support_one_of(["range"], besides=None)
    members.change_protocols(members["b"], protocols("sticky"))
    assert members.choose_protocol() == "sticky"
    members.validate()


def test_member_without_a_candidate_cannot_vote() -> None:
    with pytest.raises(InvariantError, match="none of"):
        make_member("a", "range").vote({"sticky"})


def test_member_has_no_metadata_in_a_protocol_it_does_not_know() -> None:
    with pytest.raises(InvariantError, match="no protocol 'sticky'"):
        make_member("a", "range").metadata("sticky")


def test_rebalance_timeout_is_the_longest_of_all() -> None:
    members = make_membership(make_member("a"), make_member("b"))
    members["b"].rebalance_timeout_ms = 5_000
    assert members.rebalance_timeout_ms == 5_000
    assert Membership().rebalance_timeout_ms == 0


def test_validation_notices_a_wrong_count() -> None:
    members = make_membership(make_member("a"))
    members["a"].parked_join = PARKED
    with pytest.raises(InvariantError, match="joined members"):
        members.validate()
