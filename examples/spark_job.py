"""Run `victor spark-clean` with spark-submit; see docs/guides/spark.md."""

from __future__ import annotations

import sys

from victorpy.commands import run

sys.exit(run("spark-clean"))
