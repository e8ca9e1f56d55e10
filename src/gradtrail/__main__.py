"""`python -m gradtrail`."""

import sys

from gradtrail.integrations.command import main

if __name__ == "__main__":
    sys.exit(main())
