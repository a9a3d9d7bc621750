"""Runs on many machines: the driver cuts the inputs into shards, and tasks clean them with the guard of a local run."""

from victorpy.batch.spark.driver import (
    KINDS,
    Cleaning,
    SparkJob,
    clean_frame,
    clean_sites,
    find_replicas,
    run_spark_job,
    session,
    with_model,
)

__all__ = [
    "KINDS",
    "Cleaning",
    "SparkJob",
    "clean_frame",
    "clean_sites",
    "find_replicas",
    "run_spark_job",
    "session",
    "with_model",
]
