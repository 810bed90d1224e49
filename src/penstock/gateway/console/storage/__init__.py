"""What topics hold in numbers: how large they are, and what a sample of their newest messages tells."""
