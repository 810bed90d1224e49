"""``penstock doctor``: is this a place where a broker runs well, and where does it hurt."""
