"""Arithmetic of offsets: where to begin and end, how much at once, and who reads what.

Everything here is pure: it sees offsets that were looked up, and says which are to be read. ``positions`` are
places in a log as people name them, ``resolving`` turns them into offsets, ``stream_offset`` is what a
streaming query remembers, ``limits`` and ``ranges`` cut the work to size, ``pushdown`` turns filters into
smaller ranges.
"""
