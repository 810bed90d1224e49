"""Data directories of several brokers, which nobody may take for that of a single one.

Apart from what starts such brokers: ``penstock serve`` looks at every start, and loads nothing else for it.
"""

import os


def several_brokers(directory: str) -> str | None:
    """Whose data a directory holds and how to start them, in words; None if not that of several brokers."""
    if _is_of_a_broker(directory, "worker-1"):
        return f"{directory} holds the data of several workers; serve it with --workers"
    if _is_of_a_broker(directory, "node-1"):
        command = f"penstock cluster up --dir {directory}"
        return f"{directory} holds the data of a whole cluster; start it with `{command}`"
    return None


def _is_of_a_broker(directory: str, name: str) -> bool:
    return os.path.exists(os.path.join(directory, name, "meta.properties"))
