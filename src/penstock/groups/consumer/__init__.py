"""Consumer groups (KIP-848): the coordinator assigns, and every member moves at its own pace.

Theory. There are three epochs. The *group's* grows whenever something happens that calls for another
assignment: a member comes or goes, wants other topics, or the topics change. The *target's* is the group
epoch that an assignment was made for. A *member's* is the target epoch it has arrived at. A heartbeat is the
only thing a member ever sends, and each may do three things: let the group's epoch grow, make the target,
move the member towards it. No member ever waits for another, except that a partition is not given to one
before the other has let go of it.

Read ``member`` (what a member is, and its states), ``ledger`` (what the log says), ``draft`` (how a decision
is made), ``reconciliation`` (one step of a member), ``target`` (when and how partitions are assigned), then
``heartbeat``, which puts them together. ``classic_members`` is the same for clients that speak the classic
protocol in a consumer group, ``migration`` how groups change their kind.
"""
