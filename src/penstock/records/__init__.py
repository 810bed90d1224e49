"""Record batches as Kafka stores and sends them: headers, records, compression, validation.

The broker's hot path uses ``batch`` and ``validation`` only: a batch is opaque bytes with a 61-byte header.
Decoding single records (``record``) and making batches (``builder``, ``control``) is for tools, for compacted
topics and for what the broker itself writes.
"""
