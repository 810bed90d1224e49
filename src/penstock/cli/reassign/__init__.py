"""``penstock reassign``: moves of replicas to other brokers."""
