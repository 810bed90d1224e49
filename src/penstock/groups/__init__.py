"""Consumer groups: who is a member, who reads what, how far each group has come. No I/O: events in, data out.

``records`` is how all of it is written down in ``__consumer_offsets``; ``consumer_protocol`` is what the
consumers of a classic group tell each other, as far as a broker has to understand it.

Read ``group_state`` first, the theory of classic groups; then ``shard`` (the door), ``classic_group`` (what
the log says against what memory runs ahead with), ``rebalance`` (a round), ``join``, ``sync`` and
``leave``. Offsets are kept in ``offsets``, one file per API round it. What a shard asks of any kind of group
is in ``group``; consumer groups, which the coordinator assigns, are in ``consumer``, and how it assigns in
``assignors``. A third kind fits in beside them.
"""
