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

from victorpy.base.variables import FAVORS
from victorpy.batch.local.progress import summary_table
from victorpy.batch.plan import Plan
from victorpy.commands import Arguments
from victorpy.commands._shared import (
    add_arguments,
    check_summary,
    configure_dedup,
    learns_from_site,
    method_of,
    name_of,
    plan_of,
    positive,
    write_summary,
)
from victorpy.errors import ConfigError, missing
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.outputs import find_output

SPARK_VARIABLES = ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files, directories, patterns or @LIST")
    parser.add_argument("output", metavar="OUT", help="a directory, on any file system that Spark can write to")
    parser.add_argument("--master", help="Spark's master (default: that of spark-submit, or local[*])")
    parser.add_argument("--to", default="parquet", help="parquet, jsonl or jsonl.gz (default: parquet)")
    parser.add_argument(
        "-f", "--format", default="text", metavar="F", help="of the texts (default: text): victor list formats"
    )
    parser.add_argument("-m", "--model", help="a model directory or the name of a bundled model (default: default)")
    parser.add_argument("-c", "--config", help="use the model that was trained with this config")
    parser.add_argument("--method", metavar="NAME", help="clean by another method")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument("--favor", choices=FAVORS, help="be wary of noise, of loss, or of both alike")
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help="learn from N pages (default: 500)")
    parser.add_argument("--shard-files", type=int, default=64, metavar="N", help="files in a shard (default: 64)")
    parser.add_argument("--buckets", type=int, default=16, metavar="N", help="shards of sites (default: 16)")
    configure_dedup(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    add_arguments(parser)


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

    def say(words: str) -> None:
        if not arguments.quiet:
            arguments.say(f"{words}")

    try:
        summary = spark.run_plan(opened, plan, say)
    finally:
        opened.stop()
    write_summary(arguments.summary, summary)
    if not arguments.quiet:
        print(summary_table(summary), file=sys.stderr)
        if summary["failed"]:
            say(f"what failed is in {arguments.output.rstrip('/')}/failed.jsonl; to try it again: victor clean --retry")
    return 1 if summary["failed"] else 0


def _make_plan(arguments: Arguments) -> Plan:
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
        shard_files=int(positive(arguments.shard_files, "--shard-files", 64)),
        buckets=int(positive(arguments.buckets, "--buckets", 16)),
    )
