"""The transaction coordinator as a machine: who may write in a transaction, and how each one ends.

``shard`` is the door. Read ``state`` first (the states and their moves), then ``metadata`` (who may speak for
a transactional id), then one module per request: ``init_producer_id``, ``add_partitions``, ``end_txn``,
``views``. ``verification`` is the leaders' part: which batches and markers may enter a partition's log.

Nothing here does I/O, knows a clock or draws ids; the shell in ``penstock.broker`` drives it by the contract
of ``penstock.coordinator.outcome``.
"""
