"""What is measured over time for the console's plots: a thread, and bounded memory. See ``sampler``."""
