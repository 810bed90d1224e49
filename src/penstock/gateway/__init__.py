"""Everything on the web: REST, the schema registry and the console, in a process beside the brokers.

A gateway is a plain Kafka client. It works in front of any Kafka, several of them may stand beside each
other, and none can slow a broker down more than another client could. Only here is the web stack imported.
Start reading with ``gateway`` (what all parts share), then ``app`` (how they become one) and ``security``
(who gets in).
"""
