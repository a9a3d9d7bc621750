"""The program `victor`, which ``python -m victorpy`` starts too."""

import sys


def main(command: str | None = None) -> int:
    """Run ``victor``, or one command of it. ^C shows no traceback, not even while modules are imported."""
    try:
        from victorpy import commands

        return commands.main() if command is None else commands.run(command)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
