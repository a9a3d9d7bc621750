"""Clean whole crawls on a cluster, with Apache Spark: WARC files, JSON lines and Parquet files go in, rows come out.

examples:
  victor spark-clean 'crawl/*.warc.gz' corpus/                        on this machine, all cores
  victor spark-clean @paths.txt corpus/ --master spark://host:7077
  victor spark-clean pages.parquet corpus/ --html-field content --to jsonl.gz
  victor spark-clean crawl/ corpus/ --by-site --method sst

Run the same command again to resume an interrupted run. For spark-submit see docs/guides/spark.md.
exit codes: 0 all well, 1 some pages failed (named in OUT/failed.jsonl), 2 wrong usage
"""

from __future__ import annotations

import argparse
import os
import sys

from victorpy.batch.local.progress import summary_table
from victorpy.batch.plan import Plan
from victorpy.commands import Arguments
from victorpy.commands._shared import (
    add_batch,
    add_method,
    check_summary,
    learns_from_site,
    method_of,
    name_of,
    plan_of,
    positive,
    write_summary,
)
from victorpy.errors import ConfigError, missing
from victorpy.outputs import find_output

SPARK_VARIABLES = ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files, directories, patterns or @LIST")
    parser.add_argument("output", metavar="OUT", help="a directory, on any file system that Spark can write to")
    parser.add_argument("--master", help="Spark's master (default: that of spark-submit, or local[*])")
    parser.add_argument("--to", default="parquet", help="parquet, jsonl or jsonl.gz (default: parquet)")
    add_method(parser)
    parser.add_argument("--shard-files", type=int, metavar="N", help="files in a shard (default: 64)")
    parser.add_argument("--buckets", type=int, metavar="N", help="shards of sites (default: 16)")
    add_batch(parser)


def run(arguments: Arguments) -> int:
    """Clean the pages with Spark."""
    try:
        from victorpy.batch import spark
    except ImportError as error:
        raise missing("PySpark", "spark", "victor spark-clean") from error
    plan = _make_plan(arguments)
    spark.check_plan(plan)
    check_summary(arguments.summary)
    # Without --master: that of spark-submit or of a configuration of Spark's, or else all cores of this machine.
    is_configured = any(name in os.environ for name in SPARK_VARIABLES)
    master = arguments.master or (None if is_configured else "local[*]")
    opened = spark.session(master)
    if master and master.startswith("local"):
        opened.sparkContext.setLogLevel("ERROR")  # its warnings are of interest on a cluster
    try:
        summary = spark.run_plan(opened, plan, arguments.note)
    finally:
        opened.stop()
    write_summary(arguments.summary, summary)
    if not arguments.quiet:
        print(summary_table(summary), file=sys.stderr)
        if summary["failed"]:
            arguments.say(
                f"what failed is in {arguments.output.rstrip('/')}/failed.jsonl; to try it again: victor clean --retry"
            )
    return 1 if summary["failed"] else 0


def _make_plan(arguments: Arguments) -> Plan:
    arguments.format = arguments.format or "text"
    find_output(arguments.format)
    method = method_of(arguments, at_site=arguments.by_site)
    if learns_from_site(method) and not arguments.by_site:
        raise ConfigError(f"{name_of(method)} learns from a site: give --by-site")
    return plan_of(
        arguments,
        method,
        inputs=tuple(arguments.inputs),
        output=arguments.output,
        to=arguments.to,
        shard_files=int(positive(arguments, "shard_files", 64)),
        buckets=int(positive(arguments, "buckets", 16)),
    )
