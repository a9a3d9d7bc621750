"""Clean crawls on a cluster with Apache Spark, from WARC files, JSON lines or Parquet files.

examples:
  victor spark-clean 'crawl/*.warc.gz' corpus/                        use all cores of this machine
  victor spark-clean @paths.txt corpus/ --master spark://host:7077    use a cluster
  victor spark-clean pages.parquet corpus/ --html-field content --to jsonl.gz
  victor spark-clean crawl/ corpus/ --by-site --method sst

Repeat the command to resume an interrupted run. docs/guides/spark.md describes spark-submit.
exit codes: 0 success, 1 some pages failed (listed in OUT/_failed.jsonl), 2 wrong usage
"""

from __future__ import annotations

import argparse
import os
import sys

from victorpy.batch.local.progress import summary_table
from victorpy.commands import EXIT_FAILED, Arguments, _shared
from victorpy.errors import ConfigError
from victorpy.outputs import find_output

SPARK_VARIABLES = ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files, directories, patterns or @LIST")
    parser.add_argument("output", metavar="OUT", help="directory on a file system that Spark can write to")
    _, site, many = _shared.add_cleaning(parser)
    many.add_argument("--master", help="Spark master (default: from spark-submit, or else local[*])")
    many.add_argument("--to", default="parquet", metavar="KIND", help="parquet (default), jsonl or jsonl.gz")
    shard = "input files per shard (default: at least 64 files and 4 GB)"
    many.add_argument("--shard-files", type=int, metavar="N", help=shard)
    site.add_argument("--buckets", type=int, metavar="N", help="number of shards with --by-site (default: 16)")


def run(arguments: Arguments) -> int:
    from victorpy import spark  # raises if PySpark is missing

    arguments.format = _shared.format_of(arguments)
    find_output(arguments.format)  # raises if the format does not exist
    method = _shared.method_of(arguments, at_site=arguments.by_site)
    if _shared.learns_from_site(method) and not arguments.by_site:
        raise ConfigError(f"{_shared.name_of(method)} learns from sites; add --by-site")
    plan = _shared.plan_of(
        arguments,
        method,
        inputs=tuple(arguments.inputs),
        output=arguments.output,
        to=arguments.to,
        shard_files=int(_shared.positive(arguments, "shard_files", 0)) or None,
        buckets=int(_shared.positive(arguments, "buckets", 16)),
    )
    spark.check_plan(plan)
    _shared.check_written("--summary", arguments.summary)
    is_configured = any(name in os.environ for name in SPARK_VARIABLES)
    master = arguments.master or (None if is_configured else "local[*]")
    session = spark.session(master)
    if master and master.startswith("local"):
        session.sparkContext.setLogLevel("ERROR")  # Spark's warnings matter only on a cluster
    try:
        summary = spark.run_plan(session, plan, arguments.note, arguments.force)
    finally:
        session.stop()
    _shared.write_summary(arguments, summary)
    if not arguments.quiet:
        print(summary_table(summary), file=sys.stderr)
        if summary["failed"]:
            failed = f"{arguments.output.rstrip('/')}/{spark.LIST_OF_FAILED}"
            arguments.say(_shared.describe_failed(summary, failed, "victor clean --retry"))
    return EXIT_FAILED if summary["failed"] else 0
