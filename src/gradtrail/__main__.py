"""`python -m gradtrail`."""

from gradtrail.integrations.command import console

if __name__ == "__main__":
    console()
