"""What spark-submit runs: the command `victor spark-clean`, with its arguments (see docs/guides/spark.md)."""

from __future__ import annotations

import sys

from victorpy.commands import run

sys.exit(run("spark-clean"))
