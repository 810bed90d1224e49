"""The crash explorer for storage: logs on a simulated disk that loses power, fills up, fails and rots.

``plan`` says what can happen and ``drawing`` draws it from a seed; ``world`` does it to real storage code
on a simulated disk, while ``model`` keeps book of what was promised; ``observation`` looks at what a
restart made of it, and each of the ``invariants`` compares the two. ``bugs`` are mistakes planted on
purpose: an explorer that has never found one is worth nothing.
"""
