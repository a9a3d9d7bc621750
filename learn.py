#!/usr/bin/env python3
"""The same as ``victor learn``."""

import sys

from victorpy.__main__ import main

if __name__ == "__main__":
    sys.exit(main("learn"))
