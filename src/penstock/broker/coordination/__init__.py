"""Where the coordinators' machines live in a broker: one host per shard, one coordinator per internal topic.

``shard_host`` carries out the contract of ``penstock.coordinator.outcome``: append, replay, answer when
committed, load again when that fails. It knows nothing of groups or transactions; what differs between them
is a ``ShardKind``. A third kind of group needs nothing here.
"""
