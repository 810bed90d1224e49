"""Protobuf: .proto texts into descriptors and back, with what they import, and fields against fields."""
