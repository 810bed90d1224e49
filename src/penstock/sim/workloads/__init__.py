"""What clients do in a simulation, on a tiny client of our own, and what they remember of it.

``history`` is the record that all checkers read, the same for simulated and real clusters. A workload keeps
what it does not know: an operation that was never answered is neither done nor undone.
"""
