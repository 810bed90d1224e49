"""A program that begins and ends sessions, and prints what it saw; ``test_session.py`` judges it."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from penstock.spark import explain, make_archive, session, shutdown

END_SECONDS_MAX = 20.0


def parents() -> dict[int, int]:
    """The parent of every process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z":
            found[int(path.parent.name)] = int(fields[1])
    return found


def descendants(root: int) -> set[int]:
    """All processes that come from one."""
    table, found = parents(), {root}
    while more := {child for child, parent in table.items() if parent in found} - found:
        found |= more
    return found - {root}


def still_alive(pids: set[int]) -> list[int]:
    """Those that do not end, though they had time to."""
    deadline = time.monotonic() + END_SECONDS_MAX
    while (left := pids & parents().keys()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return sorted(left)


def look_at_worker(_: Any) -> tuple[str, str]:
    """Which Python a worker is, and whence its pyspark."""
    import pyspark

    return sys.executable, pyspark.__file__


def main() -> None:
    """One life: begin, be found, stop, begin again in the same Java, end."""
    told: dict[str, Any] = {"archive": str(make_archive())}
    before = dict(os.environ)
    spark = session("first", "local[2]", short=True, archive="existing", conf={"spark.driver.memory": "512m"})
    changed = {name for name in before.keys() | os.environ.keys() if before.get(name) != os.environ.get(name)}
    told["changed"] = sorted(name for name in changed if not name.startswith("SPARK_"))
    told["explained"] = str(explain())
    gateway: Any = SparkContext._gateway
    told["mapped"] = told["archive"] in Path(f"/proc/{gateway.proc.pid}/maps").read_text()
    told["worker"] = spark.sparkContext.parallelize([1], 1).map(look_at_worker).collect()[0]
    told["is_same"] = session(conf={"spark.driver.memory": "2g", "spark.app.name": "first"}) is spark
    told["unapplied_active"] = [str(each) for each in explain().unapplied]
    spark.stop()
    again = session("again", conf={"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": 5})
    told["unapplied_stopped"] = [str(each) for each in explain().unapplied]
    told["again"] = [again.conf.get("spark.app.name"), again.conf.get("spark.sql.shuffle.partitions")]
    begun = descendants(os.getpid())
    shutdown()
    told["begun"], told["left"] = len(begun), still_alive(begun)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
