"""The entry point of the program `victor` and of ``python -m victorpy``."""

import sys


def main(command: str | None = None) -> int:
    """Run ``victor`` or one of its commands. ^C shows no traceback, even while modules are imported."""
    try:
        from victorpy import commands

        return commands.main() if command is None else commands.run(command)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
