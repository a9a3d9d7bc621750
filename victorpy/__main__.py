"""The program `victor`, which ``python -m victorpy`` starts too."""

import sys


def main() -> int:
    """Run a command. ^C shows no traceback, not even while modules are imported."""
    try:
        from victorpy.commands import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
