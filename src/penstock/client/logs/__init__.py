"""Brokers' logs, found by what they say: in the topic ``__penstock_logs``, or in files when no broker is up.

``LogQuery`` says what is wanted, ``LogTopic`` and ``search_files`` find it. Commands and the console show it.
"""
