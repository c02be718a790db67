"""`python -m exogpu`."""

import sys

from exogpu.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
