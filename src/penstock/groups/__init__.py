"""Consumer groups: who is a member, who reads what, how far each group has come. No I/O: events in, data out.

``records`` is how all of it is written down in ``__consumer_offsets``; ``consumer_protocol`` is what the
consumers of a classic group tell each other, as far as a broker has to understand it.
"""
