"""What pytest leaves alone: modules that need an extra which is not installed."""

import importlib.util

collect_ignore = (
    [] if importlib.util.find_spec("pyspark") else ["victorpy/batch/spark", "tests/support/spark_cluster.py"]
)
