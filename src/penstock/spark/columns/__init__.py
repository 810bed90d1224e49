"""Record batches of Kafka (magic 2) to Arrow columns and back, a whole fetch at a time, with numpy.

No Spark and no sockets: bytes come in, Arrow comes out, and the other way round. ``schema`` has the table's
columns, ``decoding`` reads, ``encoding`` writes, ``partitioning`` hashes keys. The rest are their parts.
"""
