"""How all parts of a gateway reach the cluster: few clients, shared, each bounded. ``access`` is the door."""
