"""The schema registry, as Confluent's REST API."""
