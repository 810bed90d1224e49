"""What to say of groups that were named and cannot be described."""

from collections.abc import Sequence

from penstock.cli.failure import CommandFailed
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.groups.listing import listed_groups, type_of


def explain_missing(cluster: Cluster, groups: Sequence[str]) -> CommandFailed | None:
    """The failure for groups that could not be described; none when there are none."""
    if not groups:
        return None
    listed = listed_groups(cluster)
    for name in groups:
        if name in listed:
            kind = type_of(listed[name][0])
            return CommandFailed(f"Group {name!r} is of type {kind}, which cannot be described here.")
    names = ", ".join(map(repr, groups))
    problem = f"There is no group {names}." if len(groups) == 1 else f"There are no groups {names}."
    return CommandFailed(problem, hint="See what there is with `penstock group list`.")
