"""`python -m exogpu`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        # Python looks first in the folder of the call, where a user's file may have the name of a package that we need
        sys.path.append(sys.path.pop(0))
    from exogpu.cli.app import main

    sys.exit(main())
