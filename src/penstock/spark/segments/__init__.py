"""``format("penstock-segments")``: stored record batches as a table, with all that is known of each batch.

Batches come from the files of a data directory, which are only ever read and cost no broker anything, or from
brokers, as they have stored them. It is what analyses are made of.
"""
