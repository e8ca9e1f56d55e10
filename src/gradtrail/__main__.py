"""`python -m gradtrail`."""

import sys

if __name__ == "__main__":
    # With -m Python looks for modules in the current folder first, whose files are the user's: nothing of them is to run.
    if sys.path and not getattr(sys.flags, "safe_path", False):
        del sys.path[0]

    from gradtrail.integrations.command import console

    console()
