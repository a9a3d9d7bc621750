"""Runs on many machines: the driver cuts the inputs into shards, and tasks clean them with the guard of a local run."""

from victorpy.batch.plan import Plan
from victorpy.batch.spark.driver import check_plan, clean_frame, clean_sites, run_plan, session, with_model

__all__ = ["Plan", "check_plan", "clean_frame", "clean_sites", "run_plan", "session", "with_model"]
