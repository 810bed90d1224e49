"""Topics kept as Parquet files, for as long as one likes: archived exactly once, read back, and replayed.

``paths`` says where everything is, ``manifest`` which files count. Nothing here imports Spark before it is
needed.
"""
