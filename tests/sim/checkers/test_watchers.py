"""Every watcher: silent about brokers that behave, loud about each thing it is there for."""

from tests.sim.checkers.views import TOPIC_ID, image, look, metadata, view

from penstock.metadata.records import PartitionChangeRecord
from penstock.sim.checkers import new_watchers
from penstock.sim.checkers.enough_in_sync import EnoughInSync
from penstock.sim.checkers.followers_able import FollowersAble
from penstock.sim.checkers.high_watermark_forward import HighWatermarkForward
from penstock.sim.checkers.images_agree import ImagesAgree
from penstock.sim.checkers.in_sync_durable import InSyncDurable
from penstock.sim.checkers.leaders_complete import LeadersComplete
from penstock.sim.checkers.leaderships import Leaderships
from penstock.sim.checkers.logs_equal import LogsEqual
from penstock.sim.checkers.offsets_ordered import OffsetsOrdered
from penstock.sim.checkers.one_controller import OneController
from penstock.sim.checkers.one_leader import OneLeader
from penstock.sim.checkers.watching import Look, Watcher


def seen(watcher: Watcher, *looks: Look) -> list[str]:
    """What it says after the last of them; it must be silent before."""
    for each in looks[:-1]:
        assert not list(watcher.look(each))
    return list(watcher.look(looks[-1]))


def test_brokers_that_behave_are_good_to_all_of_them() -> None:
    first = look(view("a", values="xyz"), view("b", values="xyz", is_leader=False), metadata=[metadata()])
    later = look(
        view("a", values="xyz", high_watermark=3, flushed_offset=3),
        view("b", values="xyz", is_leader=False, flushed_offset=3),
        metadata=[metadata(), metadata("b")],
    )
    for watcher in new_watchers():
        assert not seen(watcher, first, later, later), watcher.rule


def test_high_watermark_that_goes_back_is_seen_and_one_of_a_new_process_is_not() -> None:
    before, after = look(view()), look(view(high_watermark=1))
    assert seen(HighWatermarkForward(), before, before, after) == ["o-0 on a went from 2 back to 1"]
    assert not seen(HighWatermarkForward(), before, look(view(high_watermark=1, boot=2)))


def test_replica_that_was_moved_away_and_back_begins_anew() -> None:
    assert not seen(HighWatermarkForward(), look(view()), look(view(high_watermark=0, life=2)))


def test_ends_of_a_log_out_of_order_are_seen() -> None:
    assert not seen(OffsetsOrdered(), look(view()))
    assert seen(OffsetsOrdered(), look(view(high_watermark=3)))
    assert seen(OffsetsOrdered(), look(view(last_stable_offset=-1)))


def test_second_leader_of_an_epoch_is_seen_even_after_the_first_has_gone() -> None:
    usurped = look(view("b", is_leader=True))
    assert seen(OneLeader(), look(view("a")), look(), usurped) == ["a and b both led o-0 in epoch 1"]


def test_leaders_of_different_epochs_may_overlap() -> None:
    assert not seen(OneLeader(), look(view("a"), view("b", is_leader=True, leader_epoch=2)))


def test_second_controller_of_a_term_is_seen() -> None:
    other = look(metadata=[metadata("b", is_controller=True)])
    assert seen(OneController(), look(metadata=[metadata()]), other) == [
        "a and b were both controllers of term 4"
    ]
    later = look(metadata=[metadata("b", is_controller=True, term=5)])
    assert not seen(OneController(), look(metadata=[metadata()]), later)


def test_images_that_differ_at_one_offset_are_seen() -> None:
    other = metadata("b", image=image(isr=(1, 2, 3)))
    assert seen(ImagesAgree(), look(metadata=[metadata()]), look(metadata=[other])) == [
        "a and b have different images at 9"
    ]
    further = metadata("b", image=image(isr=(1, 2, 3)), applied_offset=10)
    assert not seen(ImagesAgree(), look(metadata=[metadata()]), look(metadata=[further]))


def test_image_that_changes_without_the_log_is_seen() -> None:
    changed = metadata(
        image=image().apply([PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=(1,))])
    )
    assert seen(ImagesAgree(), look(metadata=[metadata()]), look(metadata=[changed]))


def test_leader_without_what_was_committed_is_seen() -> None:
    successor = view(
        "b", is_leader=True, leader_epoch=2, high_watermark=0, flushed_offset=1, log_end_offset=1
    )
    assert seen(LeadersComplete(), look(view("a")), look(successor)) == [
        "b leads o-0 in epoch 2 and ends at 1, but everything below 2 was committed"
    ]


def test_deposed_leader_need_not_have_what_its_successor_commits() -> None:
    deposed = view("a", high_watermark=2, flushed_offset=2, log_end_offset=2)
    successor = view(
        "b", is_leader=True, leader_epoch=2, high_watermark=5, flushed_offset=5, log_end_offset=5
    )
    assert not seen(LeadersComplete(), look(deposed, successor))


def test_replica_that_is_counted_on_without_what_was_committed_is_seen() -> None:
    lagging = view("b", is_leader=False, flushed_offset=1, high_watermark=1)
    assert seen(InSyncDurable(), look(view("a"), lagging, metadata=[metadata()])) == [
        "b is counted on for o-0 and has 1 on disk, but everything below 2 was committed"
    ]
    eligible = metadata(image=image(isr=(1,), eligible_leader_replicas=(2,)))
    assert seen(InSyncDurable(), look(view("a"), lagging, metadata=[eligible]))


def test_replica_that_is_not_in_sync_may_lag() -> None:
    lagging = view("c", is_leader=False, flushed_offset=1, high_watermark=1)
    assert not seen(InSyncDurable(), look(view("a"), lagging, metadata=[metadata()]))


def test_newest_image_says_who_is_in_sync() -> None:
    lagging = view("b", is_leader=False, flushed_offset=1, high_watermark=1)
    newer = metadata("b", image=image(isr=(1,)), applied_offset=11)
    assert not seen(InSyncDurable(), look(view("a"), lagging, metadata=[metadata(), newer]))


def test_newest_image_counts_even_when_those_who_had_it_are_dead() -> None:
    lagging = view("b", is_leader=False, flushed_offset=1, high_watermark=1)
    newer = metadata("a", image=image(isr=(1,)), applied_offset=11)
    before = look(view("a"), lagging, metadata=[newer, metadata("b")])
    assert not seen(InSyncDurable(), before, look(lagging, metadata=[metadata("b")]))


def test_commit_that_only_a_follower_tells_of_is_not_held_against_those_in_sync() -> None:
    """The leader may have died right after the metadata log took somebody out of the set."""
    lagging = view("b", is_leader=False, flushed_offset=1, high_watermark=1)
    told = view("c", is_leader=False, high_watermark=2)
    assert not seen(InSyncDurable(), look(lagging, told, metadata=[metadata()]))


def test_commit_with_too_few_in_sync_is_seen() -> None:
    before, after = view(in_sync_count=1), view(in_sync_count=1, high_watermark=3, flushed_offset=3)
    assert seen(EnoughInSync(), look(before), look(after)) == [
        "a moved o-0 from 2 to 3 with 1 in sync, where 2 must be"
    ]


def test_commit_between_changes_of_the_set_is_no_offence() -> None:
    before = view(in_sync_count=1)
    after = view(in_sync_count=1, high_watermark=3, flushed_offset=3, partition_epoch=3)
    assert not seen(EnoughInSync(), look(before), look(after))
    assert not seen(EnoughInSync(), look(view()), look(after))


def test_replicas_that_differ_below_the_high_watermark_are_seen() -> None:
    assert seen(LogsEqual(), look(view("a", values="xy"), view("b", values="xz"))) == [
        "o-0@1 differs between a and b"
    ]


def test_replicas_may_differ_above_the_high_watermark() -> None:
    views = view("a", values="xyp"), view("b", values="xyq")
    assert not seen(LogsEqual(), look(*views))


def test_log_that_a_restart_changed_is_seen_and_read_from_its_beginning() -> None:
    assert seen(LogsEqual(), look(view(values="xy")), look(view(values="wy", boot=2))) == [
        "o-0@0 differs between a and a"
    ]


def test_logs_are_compared_from_where_no_compaction_has_been() -> None:
    compacted = view("a", values="xy", cleaned_offset=1)
    assert not seen(LogsEqual(), look(view("b", values="zy"), compacted))
    assert seen(LogsEqual(), look(compacted, view("b", values="xz"))) == ["o-0@1 differs between a and b"]


def test_replica_that_cannot_follow_any_more_is_seen() -> None:
    assert seen(FollowersAble(), look(view("b", is_leader=False, failure="lost"))) == [
        "o-0 on b follows nobody any more: lost"
    ]


def test_leaderships_tell_who_led_and_when_nobody_did() -> None:
    leaderships = Leaderships(0.5)
    leaderships.look(look(view("a"), view("b", is_leader=False), at=1.0))
    leaderships.look(look(view("a"), at=2.0))
    leaderless = metadata(image=image(leader=-1, leader_epoch=2))
    leaderships.look(look(metadata=[leaderless], at=3.0))
    leaderships.look(look(view("b", is_leader=True, leader_epoch=3), at=4.0))
    found = [(each.leader_epoch, each.node, each.until) for each in leaderships.of_partitions()["o-0"]]
    assert found == [(1, "a", 2.5), (2, "", 3.5), (3, "b", 4.5)]
