"""Runs on many machines. The driver divides the inputs, and tasks clean them in the same way as a local run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from victorpy.batch.plan import Limits, Plan
from victorpy.batch.sources import ReadOptions
from victorpy.errors import missing
from victorpy.methods import Method

try:
    from victorpy.spark.driver import LIST_OF_FAILED, check_plan, clean_frame, run_plan, session, with_model
except ModuleNotFoundError as error:
    raise missing("PySpark", "spark", "cleaning with Spark") from error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["LIST_OF_FAILED", "Plan", "check_plan", "clean", "clean_frame", "run_plan", "session", "with_model"]


def clean(
    frame: DataFrame,
    html: str = "html",
    url: str = "url",
    format: str = "text",
    model: str | None = None,
    method: str | None = None,
    favor: str | None = None,
    by_site: bool = False,
    allow_code: bool = False,
    limits: Limits | None = None,
) -> DataFrame:
    """Clean the pages in a column of a frame. Returns a frame with the columns of a batch run, one row per page.

    `html` and `url` name the columns with the pages (binary or string) and their addresses. Columns `source` and
    `position` are copied. The row of a failed page contains the reason. With `by_site`, the method learns from the
    pages of each site. A model that is not bundled with victorpy is sent to all machines.
    """
    chosen = Method(method, model=model, favor=favor, allow_code=allow_code)
    reading = ReadOptions(html_field=html, url_field=url)
    plan = Plan(format=format, method=chosen, read=reading, limits=limits or Limits(), by_site=by_site)
    return clean_frame(frame, with_model(frame.sparkSession, plan))
