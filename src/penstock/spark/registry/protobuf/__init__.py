"""Protobuf: .proto texts into descriptors, their Spark types, and records into columns and back."""
