"""Virtual time: one world, one event loop per simulated process, and twins of everything a process asks for.

``world`` owns time and decides who runs next; ``loop`` is asyncio's loop for one process; ``clock``,
``entropy``, ``workers`` and ``disk`` stand in for the broker's other seams. What happens, and in which order,
follows from the seed alone.
"""
