"""What a worker process of Spark needs once: its garbage collector told what will stay.

PySpark collects garbage after every task of a worker that it uses again. With pyarrow and numpy loaded that
took most of the time of small tasks; frozen objects are not looked at any more.
"""

import gc

_settled: list[bool] = []


def settle() -> None:
    """Freeze what is loaded, the first time it is called in a process."""
    if not _settled:
        _settled.append(True)
        gc.collect()
        gc.freeze()
