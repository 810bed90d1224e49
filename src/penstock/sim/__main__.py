"""``python -m penstock.sim``."""

import sys

from penstock.sim.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
