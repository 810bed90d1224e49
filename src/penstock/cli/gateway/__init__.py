"""``penstock gateway`` and ``penstock console``: everything on the web, beside any Kafka."""
