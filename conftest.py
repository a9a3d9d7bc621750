"""What pytest leaves alone: modules that need an extra which is not installed."""

import importlib.util
import os

collect_ignore = [] if importlib.util.find_spec("pyspark") else ["victorpy/spark", "tests/support/spark_cluster.py"]

if importlib.util.find_spec("victorpy.native.split") is None:
    os.environ["VICTOR_ENGINE"] = "python"  # otherwise the first test of `victor clean` would show a hint
