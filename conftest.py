"""What pytest leaves alone: modules of extras that are not installed."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("pyspark") else ["victorpy/batch/spark.py"]
