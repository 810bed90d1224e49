"""Copies of partitions between brokers, both ends of it.

A follower's broker has one ``fetcher`` for each leader it copies from; ``follower_shell`` does for a single
partition what its machine orders, ``log_changes`` cuts its log. A leader's broker serves them in
``replica_fetch``, out of a ``replica_session`` that remembers what was asked. ``isr_proposals`` talks to the
controller, ``throttles`` slow down what others ask to be slow. ``replication`` owns all of it.
"""
