"""Reading messages: what the caller has seen, where it stands, what it is given and what is taken away."""
