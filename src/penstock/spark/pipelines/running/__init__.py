"""Pipelines at work, on plain Structured Streaming: one query for each flow, its checkpoint below the
storage.

Read in this order: ``sources`` (what is read), ``datasets`` (names that queries use), ``records`` (rows
become records), ``flow_queries`` (a flow becomes a query), ``side_outputs`` (what leaves sideways),
``runner`` (all of it started, watched and stopped). ``analysis`` checks without data, ``run_files`` and
``storage`` are what is on disk.
"""
