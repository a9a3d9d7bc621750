#!/usr/bin/env python3
"""The same as ``victor annotate``."""

import sys

from victorpy.commands import run

if __name__ == "__main__":
    sys.exit(run("annotate"))
