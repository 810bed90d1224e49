"""Which story tells of which planted bug.

Chance does not reach everything: a story shows in a few steps what a bug breaks, at once and always. Stories
are in ``tests/scenarios/cluster`` and run with the unit tests, with their bugs and without; a test keeps this
table and them alike.
"""

STORIES: dict[str, str] = {
    "ack-before-flush": "power_is_lost_after_a_flush",
    "ack-before-write": "disk_stalls",
    "shown-before-flush": "disk_stalls",
    "coordinator-answers-early": "commit_waits_for_another_replica",
    "coordinator-loads-nothing": "coordinator_is_started_again",
    "pending-offsets-forgotten": "coordinator_is_started_again_in_a_transaction",
    "offset-markers-forgotten": "coordinator_is_started_again_after_a_transaction",
    "metadata-unflushed": "sole_voter_loses_power_after_its_answer",
    "stable-offset-too-high": "transaction_is_open",
    "aborted-unlisted": "transaction_was_aborted",
    "marker-believed": "marker_finds_no_room",
    "transactions-never-expire": "producer_dies_in_a_transaction",
    "unverified-appends": "batch_arrives_after_its_transaction_has_ended",
    "epochs-unchecked": "producer_is_replaced_and_speaks_on",
    "late-batches-taken": "batch_of_a_fenced_producer_arrives_after_its_transaction_was_aborted",
    "sequences-unchecked": "producer_hears_no_answer_and_sends_again",
    "producers-not-replayed": "producer_hears_no_answer_and_the_broker_starts_again",
    "generations-unchecked": "member_commits_late",
    "flush-retried": "flush_fails_once",
    "page-cache-trusted": "start_finds_what_only_the_page_cache_has",
    "directories-unsynced": "log_is_made_and_the_power_is_lost",
    "follower-promises-unflushed": "follower_loses_power_before_it_flushed",
    "cut-at-high-watermark": "member_cuts_what_its_leader_does_not_have_and_no_more",
    "late-answers-believed": "answer_comes_again_when_the_log_has_changed",
    "leader-epochs-unchecked": "replica_goes_and_comes_back_empty",
    "stale-fetches-believed": "answer_comes_again_when_the_log_has_changed",
    "divergence-unchecked": "former_leader_has_what_its_successor_never_had",
    "followers-show-too-much": "follower_asks_a_leader_of_the_past",
    "copies-unchecked": "answer_overtaken_by_an_election",
    "leader-commits-alone": "follower_loses_power_before_it_flushed",
    "silent-members-dropped": "minority_goes_on_alone",
    "proposed-members-unheard": "controller_accepted_a_member_the_leader_has_not_heard_of",
    "answer-counts-at-once": "minimum_is_raised_while_the_set_shrinks",
    "minimum-ignored": "minimum_is_raised_while_the_set_shrinks",
    "anybody-let-in": "follower_that_is_behind_is_not_let_in",
    "epoch-start-forgotten": "new_leader_does_not_know_what_was_committed_before_it",
    "broker-epochs-unchecked": "replica_restarts_with_less_while_it_is_being_let_into_the_set",
    "fenced-members-accepted": "fenced_replica_is_not_let_into_the_set",
    "partition-epochs-unchecked": "request_for_a_larger_set_is_overtaken_by_a_smaller_one",
    "losses-not-told": "last_replica_standing_takes_nothing_with_it",
    "everybody-eligible": "follower_that_is_behind_is_not_let_in",
    "always-unclean": "minimum_is_lowered_while_somebody_is_eligible",
    "vote-reported-early": "voter_has_not_written_its_vote_down",
    "promises-before-disk": "follower_answers_when_its_disk_has_the_entries",
    "applied-uncommitted": "leader_knows_of_what_it_has_only_proposed",
    "answered-uncommitted": "leader_is_alone_with_its_decision",
    "controller-too-soon": "everybody_starts_again",
    "any-commit-believed": "everybody_starts_again",
    "sessions-never-end": "broker_falls_silent",
    "coordinator-loads-too-soon": "coordinator_waits_for_what_it_will_read",
    "coordinator-outlives-its-epoch": "leadership_is_lost_and_won_again",
    "markers-of-any-coordinator": "former_coordinator_repeats_its_order",
}
"""By the names of bugs, in the order of their table."""

UNSEEN: dict[str, str] = {
    "late-answers-believed": "a fetcher drops answers to earlier questions itself",
}
"""Bugs that change nothing in a whole broker, and why: no seed will notice them, story or not."""


def is_told(bug: str) -> bool:
    """Whether seeds may miss a bug: a story tells it, or there is nothing for them to see."""
    return bug in STORIES or bug in UNSEEN


def story_column(bug: str) -> str:
    """What the table says of a bug beside the seeds that notice it."""
    story = STORIES.get(bug, "-")
    return f"{story} (no seed can: {UNSEEN[bug]})" if bug in UNSEEN else story
