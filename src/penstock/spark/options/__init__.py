"""The options of ``format("penstock")``: one table each for reading, writing and Kafka's own properties.

``definition`` says what a line of a table is; ``reading_table``, ``writing_table`` and ``kafka_table`` are
the tables; ``parsing`` checks names and values against them, and ``source_options`` turns what was given
into the values that the readers use. Nothing here talks to a broker.
"""
