"""A small blocking client over our own codecs, for what librdkafka's admin client cannot ask.

``Cluster`` is the door: it finds brokers, coordinators and leaders, keeps one connection to each broker, and
waits out what passes by itself. ``coordinators`` and ``topics`` hold whole conversations; ``errors`` says
what may go wrong. Nothing here prints, and nothing knows which command is running.
"""
