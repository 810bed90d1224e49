"""Brokers as processes of this machine: ``cluster up`` and ``serve --workers`` plan, start and watch them."""
