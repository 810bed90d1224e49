"""Load for any Kafka-protocol broker, and what it measures.

The load is prebuilt: a batch is made once and its bytes are sent again and again, and answers are looked at
only where their error code and their offsets stand. So the broker, not this client, is what gets measured.
``raw_produce`` and ``raw_consume`` do that; ``librdkafka`` asks the same of a real client; ``end_to_end`` and
``round_trips`` measure time instead of volume; ``suite`` is the whole table.
"""
