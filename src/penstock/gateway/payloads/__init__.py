"""Keys and values that carry the number of a schema, read and written by the gateway's own registry.

``decoding`` is for who reads, ``encoding`` for who writes; ``ready_schema`` finds a schema and makes it
ready. The libraries of each kind are imported when the first such schema comes.
"""
