"""What is in a log, told in numbers: sizes, keys, times, compression, files.

Accumulators take one batch after the other and hold a bounded amount, however many come; two of them merge
into one, so that a topic is the sum of its partitions. They do not care where batches come from: files of a
data directory (``stored_partition``), which are only ever read, or the answers of any broker.
"""
