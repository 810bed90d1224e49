"""Consensus on one log, as a machine: events and the time in, orders out; no disk, socket, clock or task.

The algorithm is Raft (Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm"; Ongaro's
dissertation for pre-vote, check-quorum, transfer, learners and membership by single steps). Words are Kafka's
where both have one: a *term* is a leader epoch, an *index* is an offset, an *entry* is a record batch. Where
the paper counts entries from 1 and names the last one, we name where the next one goes: ``end_offset``.

Read ``output`` first (the contract with whoever drives the machine), then ``node`` (the door), ``state``,
``following``, ``elections`` and ``leadership``.
"""
