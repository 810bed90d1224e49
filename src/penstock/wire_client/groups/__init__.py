"""What a cluster tells about groups: who is in them, how far they are, and how they are moved."""
