"""A small language that says which messages are wanted: ``key:alice and $.order.total > 100``.

``language`` has the grammar and the door, ``compile_filter``. What it makes are plain functions over a
``Candidate``; nothing that somebody typed is ever run as code, and everything is bounded: the text, its
depth, the number of words.
"""
