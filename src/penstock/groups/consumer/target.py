"""What members are to have: when the group's epoch grows, and the assignment that follows from it.

The epoch grows when a member comes, goes or wants other topics, and when the topics themselves change: they
are made, deleted, get more partitions. A hash of them is written beside the epoch, so that a coordinator that
takes over knows whether they have changed since.
"""

from collections import Counter
from hashlib import blake2b

from penstock.groups.assignors import ASSIGNORS
from penstock.groups.assignors.spec import GroupSpec, MemberSpec
from penstock.groups.catalog import TopicCatalog
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.records import (
    epoch_record,
    no_partition_metadata,
    pattern_record,
    target_epoch_record,
    target_record,
)
from penstock.groups.context import ShardContext
from penstock.groups.partitions import NO_PARTITIONS
from penstock.groups.settings import GroupSettings
from penstock.groups.topics import Topics
from penstock.model.errors import ApiError
from penstock.model.ids import Millis

_HASH_BYTES = 8


def refresh(draft: Draft, context: ShardContext, now: Millis, *, has_changed: bool) -> None:
    """Look at the topics again, and let the epoch grow if they have changed, or if members have."""
    _resolve_patterns(draft, context.catalog, now)
    metadata_hash = hash_topics(draft.ledger, context.catalog.topics)
    if has_changed or metadata_hash != draft.ledger.metadata_hash:
        draft.write(epoch_record(draft.group_id, draft.ledger.epoch + 1, metadata_hash))
        if draft.ledger.has_partition_metadata:
            draft.write(no_partition_metadata(draft.group_id))
    draft.has_seen_topics = True


def assign(draft: Draft, context: ShardContext, now: Millis) -> None:
    """Make the assignment of the present epoch, unless there is one."""
    ledger = draft.ledger
    if ledger.epoch <= ledger.target_epoch:
        return
    assignor = ASSIGNORS[preferred_assignor(ledger, context.settings)]
    targets = assignor(_group_spec(ledger, context.catalog.topics))
    for member_id, target in targets.items():
        if target != ledger.targets.get(member_id):
            draft.write(target_record(draft.group_id, member_id, target))
    draft.write(target_epoch_record(draft.group_id, ledger.epoch, now))


def preferred_assignor(ledger: Ledger, settings: GroupSettings) -> str:
    """What most members ask for, on a tie what comes first in the settings; by default that, too."""
    names = settings.group_consumer_assignors
    votes = Counter(member.profile.server_assignor for member in ledger.members.values())
    return max(names, key=lambda name: (votes[name], -names.index(name)))


def hash_topics(ledger: Ledger, topics: Topics) -> int:
    """A number that is another one when the topics that members read have changed; never 0."""
    digest = blake2b(digest_size=_HASH_BYTES)
    for name in sorted(ledger.subscribed_topics):
        count = topics.partition_count(name)
        if count:
            digest.update(topics.id_of(name) + count.to_bytes(4))
    return int.from_bytes(digest.digest(), signed=True) or 1


def _resolve_patterns(draft: Draft, catalog: TopicCatalog, now: Millis) -> None:
    """Write down what patterns mean if that has changed, and forget those that nobody uses."""
    ledger = draft.ledger
    used = {member.profile.subscribed_topic_regex for member in ledger.members.values()}
    for pattern in sorted(each for each in used if each):
        try:
            topics = catalog.resolve(pattern)
        except ApiError:
            continue  # Another broker took it for a pattern; what it meant there is what it means.
        known = ledger.patterns.get(pattern)
        if known is None or frozenset(known.topics) != topics:
            draft.write(
                pattern_record(draft.group_id, pattern, topics, version=catalog.version, timestamp=now)
            )
    unused = [each for each in draft.ledger.patterns if each not in used]
    draft.extend(pattern_record(draft.group_id, each, None) for each in unused)


def _group_spec(ledger: Ledger, topics: Topics) -> GroupSpec:
    counts = {name: topics.partition_count(name) for name in ledger.subscribed_topics}
    ids = {name: topics.id_of(name) for name, count in counts.items() if count}
    members = {
        member_id: MemberSpec(
            topics=frozenset(ids[name] for name in ledger.topics_of(member) if name in ids),
            previous=ledger.targets.get(member_id, NO_PARTITIONS),
        )
        for member_id, member in ledger.members.items()
    }
    return GroupSpec(members=members, partition_counts={ids[name]: counts[name] for name in ids})
