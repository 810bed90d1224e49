"""How a pipeline tells what it does: numbers out of Spark's progress, metrics, and records in a topic.

``progress`` is the numbers; ``prometheus`` and ``metrics_server`` hand them to monitoring, ``progress_topic``
writes and reads them as records. The terminal is the command line's business.
"""
