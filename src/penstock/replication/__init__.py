"""One partition's replicas: the leader, its followers, and how a broker passes from one to the other.

``leader`` counts who has what on disk and moves the high watermark; ``follower`` copies and cuts off what the
leader never had; ``replica`` is the one or the other, as the metadata log says. ``divergence`` compares two
logs by their leader epochs, ``read_replica`` picks who a consumer should read from.
"""
