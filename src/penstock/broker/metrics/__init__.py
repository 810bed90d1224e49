"""What a broker tells of itself: numbers for Prometheus, and whether it is well.

``table`` has every metric there is. Counters are kept where things happen (``traffic``, ``flush_meter``) and
cost additions; everything else is looked up when somebody asks for the ``page``, in slices that leave the
loop to clients. ``http`` is the small server, which belongs to the process and not to the broker: a
simulated broker counts, and is asked by nobody.
"""
