"""JSON with a JSON Schema: the Spark type of a schema and back, and records by Spark's own JSON functions."""
