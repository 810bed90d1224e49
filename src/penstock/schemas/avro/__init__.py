"""Avro: texts of schemas into trees of types and back into canonical texts, and readers against writers."""
