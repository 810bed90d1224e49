"""Reading topics: who plans, who fetches, and what happens when records are gone.

``planning`` says which ranges of offsets a batch reads, ``lookup`` asks brokers where partitions begin and
end, ``fetching`` is the conversation of one task with the leader of its partition, ``rows`` makes Arrow
batches of what it brings. ``data_loss`` names what was lost. ``batch_reader`` and ``stream_reader`` are what
Spark calls.
"""
