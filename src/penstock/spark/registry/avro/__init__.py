"""Avro: schemas as a tree of types, their Spark types, and records into columns and back."""
