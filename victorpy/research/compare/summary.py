"""Build the content of scores.json and pages.jsonl from the results of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from victorpy.methods import Method
from victorpy.model.store import find_model
from victorpy.peers import versions
from victorpy.research.compare.data import DataSet, was_trained_on
from victorpy.research.compare.run import ComparedSite, Learned
from victorpy.research.scores import BlockCounts, PageResult, interval_of, mean_of, pooled
from victorpy.research.site_runs import Plan
from victorpy.research.statistics import compare, mean

FEW_SITES, PAGES_PER_SITE = 50, 3
"""A data set with more sites, or with fewer pages per site, has no scores by site."""
MOST_DISPUTED = 20
"""Number of pages that are listed because methods differ most on them."""


def summarise_comparison(
    sets: Sequence[DataSet],
    methods: Sequence[Method],
    plan: Plan,
    compared: Sequence[ComparedSite],
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return all numbers by name. Shares are in 0..1, and a number that does not apply is None."""
    trained_on = {method.name: _trained_on(method, sets) for method in methods}
    summary: dict[str, Any] = {
        "settings": {"sample": plan.sample, "tune": plan.tune, "seed": plan.seed},
        "versions": versions("lxml", "numpy"),
        "sets": [],
        "methods": [
            {
                "method": method.name,
                "needs": method.kind,
                "run_as": method.run_as,
                "trained_on": trained_on[method.name],
            }
            for method in methods
        ],
        **{name: [] for name in ("results", "differences", "by_type", "by_site", "failures", "disputed")},
        "warnings": list(warnings),
    }
    for data in sets:
        sites = [site for site in compared if site.data == data.name]
        rows = [row for site in sites for row in site.rows]
        by_method = {method.name: [row for row in rows if row.method == method.name] for method in methods}
        pages = by_method[methods[0].name]
        summary["sets"].append(_set_record(data, sites, len(pages)))
        for name, method_rows in by_method.items():
            known = trained_on[name]
            head = {"method": name, "data": data.name, "pages": len(pages)}
            scores = _scores(method_rows, [site.learned[name] for site in sites])
            summary["results"].append(head | scores | {"trained_on": known[data.name] if known else False})
        deciding = {name: [row.scores[data.measure] for row in method_rows] for name, method_rows in by_method.items()}
        summary["differences"] += _differences(data, deciding)
        summary["disputed"] += _disputed(data, deciding, pages)
        types = sorted({page.page_type for page in pages if page.page_type})
        if len(types) > 1:
            summary["by_type"] += _by_group(data, by_method, "type", "page_type", types)
        names = list(dict.fromkeys(row.site for row in rows))
        if 1 < len(names) <= FEW_SITES and len(pages) >= PAGES_PER_SITE * len(names):
            summary["by_site"] += _by_group(data, by_method, "site", "site", names)
        summary["failures"] += [
            {"data": data.name, "page": row.name, "method": row.method, "error": row.error} for row in rows if row.error
        ]
    return summary


def page_records(compared: Iterable[ComparedSite]) -> Iterator[dict[str, Any]]:
    """Yield a record per page, with the scores of every method."""
    names = {"words_precision": "precision", "words_recall": "recall", "words_f1": "f1"}
    names |= {name: name for name in ("value_recall", "words_removed", "cpu_ms")}
    for site in compared:
        for page, rows in groupby(site.rows, key=lambda row: (row.name, row.page_type)):
            scores = {
                row.method: {short: row.scores[name] for name, short in names.items() if name in row.scores}
                | {"error": row.error}
                for row in rows
            }
            yield {"data": site.data, "site": site.site, "name": page[0], "type": page[1], "methods": scores}


def _trained_on(method: Method, sets: Sequence[DataSet]) -> dict[str, bool | None] | None:
    """Whether a model was trained on each data set; None if the method is not trained."""
    if not method.is_trained:
        return None
    meta = json.loads((find_model(method.model_name) / "meta.json").read_bytes())
    return {data.name: was_trained_on(method.model_name, meta, data.source) for data in sets}


def _set_record(data: DataSet, sites: Sequence[ComparedSite], pages: int) -> dict[str, Any]:
    ceilings = [ceiling for site in sites for ceiling in site.ceilings]
    return {
        "data": data.name,
        "source": data.source,
        "measure": data.measure,
        "pages": pages,
        "sites": len(sites),
        "single_page_sites": sum(count == 1 for count in data.sites.values()),
        "tuned_pages": sum(site.tuned for site in sites),
        "values": sum(score.gold for score in ceilings) if data.has_values else None,
        "values_in_pages": mean([score.recall for score in ceilings]),
    }


def _scores(rows: Sequence[PageResult], learned: Sequence[Learned]) -> dict[str, Any]:
    """Return the scores of one method on one data set."""
    labelled = [row.blocks for row in rows if row.blocks]  # none for pages on which the method failed
    blocks = BlockCounts.sum(labelled)
    learned_pages = sum(cost.pages for cost in learned)
    main = _main_scores(rows)
    means = {
        name: mean_of(rows, name)
        for name in ("words_precision", "words_recall", "cleaneval_words_f1", "shingle_f1", "cpu_ms")
    }
    return {
        **main,
        **means,
        "words_f1_pooled": None if main["words_f1"] is None else pooled(rows, "words").f1,
        "label_accuracy": blocks.label_accuracy if labelled else None,
        "content_accuracy": blocks.content_accuracy if labelled else None,
        "empty": sum(row.scores["empty"] > 0 for row in rows),
        "failed": sum(bool(row.error) for row in rows),
        "site_ms": 1000 * sum(cost.seconds for cost in learned) / learned_pages if learned_pages else None,
    }


def _main_scores(rows: Sequence[PageResult]) -> dict[str, Any]:
    """Return the deciding measures with their intervals, and the share of words removed."""
    scores: dict[str, Any] = {}
    for name in ("words_f1", "value_recall"):
        scores |= {name: mean_of(rows, name), f"{name}_interval": interval_of(rows, name)}
    return scores | {"words_removed": mean_of(rows, "words_removed")}


def _differences(data: DataSet, deciding: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Any]]:
    """Yield every method minus the first one, and minus the best one, on the same pages."""
    best = max(deciding, key=lambda name: sum(deciding[name]))
    for against in dict.fromkeys([next(iter(deciding)), best]):
        for name, values in deciding.items():
            if name != against:
                row = {"data": data.name, "method": name, "against": against, "measure": data.measure}
                yield row | compare(values, deciding[against]).by_name()


def _disputed(
    data: DataSet, deciding: Mapping[str, Sequence[float]], pages: Sequence[PageResult]
) -> list[dict[str, Any]]:
    """Return the pages with the largest difference between the best and the worst method."""
    records = []
    for page, scores in zip(pages, zip(*deciding.values(), strict=True), strict=True):
        row = {"data": data.name, "page": page.name, "site": page.site, "difference": max(scores) - min(scores)}
        records.append(row | {"scores": dict(zip(deciding, scores, strict=True))})
    records.sort(key=lambda record: -record["difference"])
    return [record for record in records[:MOST_DISPUTED] if record["difference"] > 0]


def _by_group(
    data: DataSet, by_method: Mapping[str, Sequence[PageResult]], column: str, field: str, groups: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for group in groups:
        for name, rows in by_method.items():
            in_group = [row for row in rows if getattr(row, field) == group]
            head: dict[str, Any] = {"data": data.name, column: group, "method": name, "pages": len(in_group)}
            yield head | _main_scores(in_group)
