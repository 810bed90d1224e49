"""What becomes of a process's log: standard error, JSON files, and the topic ``__penstock_logs``.

Whoever has something to say logs as everybody does in Python, an event and its facts (``extra``). Only the
process (``broker.main``) listens to that: brokers in tests and in the simulator write no files and no topic.
Read ``process_log`` first.
"""
