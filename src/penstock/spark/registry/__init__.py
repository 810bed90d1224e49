"""Confluent's schema-registry wire format in Spark columns: bytes into typed columns, and back.

``from_registry`` and ``to_registry`` are the two public functions. Below them: the wire format
(``wire_format``, ``tags``), where schemas come from (``rest_registry``, ``schema_files``), and a folder for
each of the three formats. Decoders work on Arrow arrays and know nothing of Spark, so they can be tried
without it.
"""
