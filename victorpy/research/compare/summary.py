"""Build the content of scores.json and pages.jsonl from the results of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from victorpy.base.digests import read_meta
from victorpy.methods import Method
from victorpy.model.store import find_model
from victorpy.peers import versions
from victorpy.research.compare.run import ComparedSite, DataSet, LearningCost
from victorpy.research.scores import BlockCounts, PageResult, mean_of, pooled, values_of
from victorpy.research.site_runs import Plan
from victorpy.research.statistics import compare, interval, mean

TRAINED_ON = {"default": ("wcxb", "dragnet", "l3s", "cleaneval"), "cleaneval": ("cleaneval",)}
"""Training data of bundled models whose meta.json does not record it: these kinds, without HELD_OUT directories."""
HELD_OUT = "test"
FEW_SITES, PAGES_PER_SITE = 50, 3  # a data set with more sites, or with fewer pages per site, has no scores by site
MOST_DISPUTED = 20  # number of pages that are listed because methods differ most on them


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Return the data sets that a model is known to have been trained on."""
    meta = read_meta(find_model(model))
    return [data for data in sets if was_trained_on(model, meta, data)]


def was_trained_on(model: str, meta: Mapping[str, Any], data: str) -> bool | None:
    """Whether a model was trained on a data set; None if its training data is not recorded.

    >>> meta = {"training": {"data": ["wcxb", "cleaneval:dev"]}}
    >>> [was_trained_on("my", meta, data) for data in ("wcxb:dev", "wcxb:test", "cleaneval:final")]
    [True, False, False]
    """
    recorded = meta.get("training", {}).get("data")
    if not recorded or not isinstance(recorded, list):
        recorded = TRAINED_ON.get(model)
    if recorded is None:
        return None
    kind, _, name = data.partition(":")
    return data in recorded or (kind in recorded and name != HELD_OUT)


def summarise_comparison(
    sets: Sequence[DataSet],
    methods: Sequence[Method],
    plan: Plan,
    compared: Sequence[ComparedSite],
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return all results by name. Shares are from 0 to 1, and results that do not apply are None."""
    trained_on: dict[str, dict[str, bool | None] | None] = {}  # None for methods that are not trained
    for method in methods:
        trained_on[method.name] = None
        if method.is_trained:
            meta = read_meta(find_model(method.model_name))
            trained_on[method.name] = {data.name: was_trained_on(method.model_name, meta, data.source) for data in sets}
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
        ceilings = [ceiling for site in sites for ceiling in site.ceilings]
        summary["sets"].append(
            {
                "data": data.name,
                "source": data.source,
                "measure": data.measure,
                "pages": len(pages),
                "sites": len(sites),
                "single_page_sites": sum(count == 1 for count in data.sites.values()),
                "tuned_pages": sum(site.tuned for site in sites),
                "values": sum(score.gold for score in ceilings) if data.has_values else None,
                "values_in_pages": mean([score.recall for score in ceilings]),
            }
        )
        for name, method_rows in by_method.items():
            head = {"method": name, "data": data.name, "pages": len(pages)}
            scores = _scores(method_rows, [site.learned[name] for site in sites])
            by_set = trained_on[name]
            summary["results"].append(head | scores | {"trained_on": by_set[data.name] if by_set else False})
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
    """Yield one record per page, with the scores of every method."""
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


def _scores(rows: Sequence[PageResult], learned: Sequence[LearningCost]) -> dict[str, Any]:
    labelled = [row.blocks for row in rows if row.blocks]  # none for pages on which the method failed
    blocks = BlockCounts.sum(labelled)
    learned_pages = sum(cost.pages for cost in learned)
    main = _main_scores(rows)
    other_means = ("words_precision", "words_recall", "cleaneval_words_f1", "shingle_f1", "cpu_ms")
    return {
        **main,
        **{name: mean_of(rows, name) for name in other_means},
        "words_f1_pooled": None if main["words_f1"] is None else pooled(rows, "words").f1,
        "label_accuracy": blocks.label_accuracy if labelled else None,
        "content_accuracy": blocks.content_accuracy if labelled else None,
        "empty": sum(row.scores["empty"] > 0 for row in rows),
        "failed": sum(bool(row.error) for row in rows),
        "site_ms": 1000 * sum(cost.seconds for cost in learned) / learned_pages if learned_pages else None,
    }


def _main_scores(rows: Sequence[PageResult]) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for name in ("words_f1", "value_recall"):
        scores |= {name: mean_of(rows, name), f"{name}_interval": interval(values_of(rows, name))}
    return scores | {"words_removed": mean_of(rows, "words_removed")}


def _differences(data: DataSet, deciding: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Any]]:
    """Yield how every method differs from the first and from the best method, on the same pages."""
    best = max(deciding, key=lambda name: sum(deciding[name]))
    for against in dict.fromkeys([next(iter(deciding)), best]):
        for name, values in deciding.items():
            if name != against:
                row = {"data": data.name, "method": name, "against": against, "measure": data.measure}
                yield row | asdict(compare(values, deciding[against]))


def _disputed(
    data: DataSet, deciding: Mapping[str, Sequence[float]], pages: Sequence[PageResult]
) -> list[dict[str, Any]]:
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
