"""What every coordinator is made of: records, outcomes, events, deadlines, and which partition keeps a key.

A coordinator looks after keys (groups, transactional ids) that are spread over the partitions of an internal
topic. One *shard* is a machine for one such partition. It decides on requests by returning an ``Outcome``;
its hard state changes only when the records of an outcome are replayed, so that running and recovering are
one path. ``penstock.groups`` has the shards of ``__consumer_offsets``.
"""
