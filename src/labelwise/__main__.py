"""``python -m labelwise``: the command line where no script was installed."""

from labelwise.cli import main

if __name__ == "__main__":
    main()
