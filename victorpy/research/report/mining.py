"""The report of a mining study: the papers' tables and figure, removed words and surviving values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from victorpy.research.report import plots
from victorpy.research.report.base import Report, Scores, Section, percent, score

_CONFIGURATIONS = {
    "1": "trained on both classes at one site, tested at all other sites",
    "2": "trained on two sites, one for each class, tested at all other sites",
    "3": "trained on two sites, one for each class, tested on all other pages, including those of the two sites",
    "4": "as 3, with sites that have both classes, tested only on the class of each site that was not trained on",
}
_AVERAGES = [f"{letter}{number}" for letter in "FA" for number in _CONFIGURATIONS]


def report(scores: Scores, title: str) -> Report:
    """Build the report."""
    data, results = scores["data"], scores["results"]
    lead = (
        f"{data['pages']:,} pages of {data['sites']} sites in {len(data['verticals'])} verticals "
        f"({', '.join(data['verticals'])}), with {data['values']:,} attribute values."
    )
    if scores["warnings"]:
        lead += f" {len(scores['warnings'])} pages could not be used."
    verticals = [(name, [row["survival"]["verticals"][name] for row in results]) for name in data["verticals"]]
    by_site = zip(*(result["survival"]["sites"] for result in results), strict=True)
    sites = [(f"{row[0]['vertical']}: {row[0]['site']}", row) for row in by_site]
    sections = [_overview(scores), _survival("By vertical", "vertical", scores, verticals)]
    sections += [_clustering(scores), _classification(scores)]
    if any(result["removed"] for result in results):
        note = (
            "The same with only the text that each method removed. If the scores are high, the repeated text of sites "
            "reveals their vertical, and removing it removes a clue. The papers' sites had pages of all classes, so "
            "their menus gave no clue; here this is true of configurations 1 and 4 only."
        )
        rows = [(row["method"], *_averages(row["removed"])) for row in results if row["removed"] is not None]
        sections.append(Section("Classification of the removed text", ("method", *_AVERAGES), rows, note))
    for measure, letter, table in (("f", "F", "table 3, F scores"), ("accuracy", "A", "table 4, accuracies")):
        sections += [_by_pair(scores, number, measure, letter, table) for number in _CONFIGURATIONS]
    if scores["rises"]:
        sections.append(_rises(scores))
    if scores["order"]:
        sections.append(_order(scores))
    return Report(title, (lead, _how(scores)), (*sections, _survival("By site", "site", scores, sites)))


def summary(scores: Scores) -> Report:
    """Build the main tables for a terminal, without verdicts."""
    sections = (_overview(scores), _clustering(scores), _classification(scores))
    return Report(sections=tuple(replace(section, verdict="") for section in sections))


def _how(scores: Scores) -> str:
    settings = scores["settings"]
    parameters = [f"{name} with {', '.join(values)}" for name, values in scores["parameters"].items() if values]
    clustered = min(settings["cluster_pages"], scores["data"]["pages"])
    which = f"{clustered:,} randomly sampled pages" if clustered else "All pages"
    dimensions = settings["dimensions"]
    reduced = f" After the first step it continues in {dimensions} dimensions." if dimensions else ""
    sentences = [
        f"Methods that learn from a site saw at most {settings['sample']:,} of its pages, without labels.",
        f"Parameters: {'; '.join(parameters)}." if parameters else "",
        "Terms are words of at least two characters that are not numbers.",
        f"{which} are clustered, as tf-idf vectors of length 1. A run of k-means starts from randomly sampled pages "
        f"(seed {settings['seed']}), the same for every method.{reduced} The F of a run is the mean over the verticals "
        "with the best assignment of clusters to them.",
        "Classification uses multinomial naive Bayes; F is the mean over the two classes.",
        "The papers' order is none < template methods (pagelets, dom-template, text-template, rtdm) < sst ≤ "
        "sentence-entropy; other methods are not part of it.",
    ]
    return " ".join(filter(None, sentences))


def _overview(scores: Scores) -> Section:
    rows = []
    for result in scores["results"]:
        total, cost = result["survival"]["all"], result["cost"]
        shares = (percent(total["removed_share"]), percent(total["survived_share"]))
        times = (f"{cost[name]:.2f}" for name in ("learn_ms", "clean_ms", "read_ms"))
        rows.append((result["method"], *shares, f"{total['empty']:,}", *times))
    head = ("method", "words removed, %", "values that survive, %", "pages left empty")
    costs = ("learning, ms per page", "cleaning, ms per page", "reading, ms per page")
    total = scores["results"][0]["survival"]["all"]
    note = (
        f"A value survives if its words still follow one another in the text. Of {total['values']:,} values, "
        f"{total['values'] - total['present']:,} are not in the text before cleaning and are not counted. "
        "Removing many words is only good if the values survive. Times are CPU times. Learning time is per page "
        "learned from. Reading (decoding, parsing, splitting) is the same for methods that split pages in the same way."
    )
    plot = plots.trade(scores["results"])
    return Section("Removed words and surviving values", (*head, *costs), rows, note, plots=(plot,))


def _survival(title: str, what: str, scores: Scores, groups: Iterable[tuple[str, Sequence[Scores]]]) -> Section:
    rows = []
    for name, by_method in groups:
        row = [name, f"{by_method[0]['pages']:,}"]
        for cell in by_method:
            shares = (cell["removed_share"], cell["survived_share"])
            row.append(" / ".join("–" if share is None else f"{100 * share:.1f}" for share in shares))
        rows.append(tuple(row))
    return Section(title, (what, "pages", *scores["methods"]), rows, "In percent: words removed / values that survive.")


def _clustering(scores: Scores) -> Section:
    rows = []
    for result in scores["results"]:
        runs = result["clustering"]
        shares = (percent(runs[name]) for name in ("below_50", "from_70", "from_80", "from_90"))
        rows.append((result["method"], score(runs["mean"]), score(runs["deviation"]), *shares))
    head = ("method", "mean F", "deviation", "F < 0.5, %", "F ≥ 0.7, %", "F ≥ 0.8, %", "F ≥ 0.9, %")
    runs, clusters = scores["settings"]["runs"], len(scores["data"]["verticals"])
    note = f"{runs:,} runs of k-means from random pages into {clusters} clusters."
    plot = plots.distribution(scores["results"])
    return Section("Clustering (table 2)", head, rows, note, _order_holds(scores, "clustering F"), (plot,))


def _classification(scores: Scores) -> Section:
    averages = {result["method"]: result["classification"]["average"] for result in scores["results"]}
    rows = [(method, *_averages(average)) for method, average in averages.items()]
    first = next(iter(averages.values()))
    counts = ", ".join(f"{(first[number] or {'cases': 0})['cases']:,}" for number in _CONFIGURATIONS)
    note = (
        f"Means over all pairs of verticals; {counts} cases in configurations 1 to 4. The fourth is not in the papers. "
        "It is tested on the most misleading pages of the third: those of sites that the other class was learned from."
    )
    order_counts = []
    for measure in _AVERAGES:
        holds = [row["holds"] for row in scores["order"] if row["measure"] == measure]
        order_counts += [f"{measure} in {sum(holds)} of {len(holds)}"] if holds else []
    verdict = f"The papers' order holds by {', '.join(order_counts)} comparisons of methods." if order_counts else ""
    return Section("Classification, averages (tables 3 and 4)", ("method", *_AVERAGES), rows, note, verdict)


def _averages(average: Mapping[str, Scores | None]) -> list[str]:
    """Return the cells of the columns F1 to F4 and A1 to A4."""
    return [_score(average[number], measure) for measure in ("f", "accuracy") for number in _CONFIGURATIONS]


def _score(cell: Scores | None, measure: str) -> str:
    return score(None if cell is None else cell[measure])


def _by_pair(scores: Scores, number: str, measure: str, letter: str, table: str) -> Section:
    """Show one configuration of table 3 or 4: one row per pair of verticals, and the averages."""
    results = [result["classification"] for result in scores["results"]]
    lines = [
        (" – ".join(pairs[0]["classes"]), [pair[number] for pair in pairs])
        for pairs in zip(*(result["pairs"] for result in results), strict=True)
    ]
    lines.append(("average", [result["average"][number] for result in results]))
    rows = [
        (name, f"{cells[0]['cases']:,}" if cells[0] else "–", *(_score(cell, measure) for cell in cells))
        for name, cells in lines
    ]
    note = f"Configuration {number}: {_CONFIGURATIONS[number]}."
    if any(pair[number] is None for pair in results[0]["pairs"]):
        reasons = {"1": "no site has pages of both", "4": "no two sites have pages of both"}
        reason = reasons.get(number, "there are too few sites")
        note += f" A dash means that {reason}, or that no pages of both are left to test on."
    title = f"{'Beyond' if number == '4' else 'As'} {table}: {letter}{number}"
    verdict = _order_holds(scores, f"{letter}{number}")
    return Section(title, ("classes", "cases", *scores["methods"]), rows, note, verdict)


def _rises(scores: Scores) -> Section:
    cells = {
        (row["method"], row["measure"]): f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
        for row in scores["rises"]
    }
    methods, measures = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    rows = [(method, *(cells[method, measure] for measure in measures)) for method in methods]
    note = "Each method minus no cleaning, on the same runs or cases. The 95 % intervals come from resampling them."
    return Section("Gain over no cleaning", ("method", *measures), rows, note)


def _order(scores: Scores) -> Section:
    rows = [
        (
            row["measure"],
            f"{row['worse']} {'≤' if row['may_be_equal'] else '<'} {row['better']}",
            "yes" if row["holds"] else "no",
            f"{row['difference']:+.3f}",
            f"{row['low']:+.3f} to {row['high']:+.3f}",
        )
        for row in scores["order"]
    ]
    note = (
        "Each method against every method that the papers found better, on the same runs or cases. The interval "
        "resamples these, not the sites, so it is not valid for other sites. Here every case has the same weight; in "
        "the tables every pair of verticals has, so the last digit may differ."
    )
    head = ("measure", "the papers' order", "holds", "difference", "95 % interval")
    return Section("The papers' order", head, rows, note)


def _order_holds(scores: Scores, measure: str) -> str:
    comparisons = [row for row in scores["order"] if row["measure"] == measure]
    if not comparisons:
        return "The papers' order cannot be checked: there is nothing to compare."
    exceptions = []
    for row in comparisons:
        if not row["holds"]:
            lack, least, most = (round(-row[name], 3) + 0.0 for name in ("difference", "high", "low"))  # no -0.000
            how = f"{lack:.3f} below" if row["difference"] else "no better than"
            exceptions.append(f"{row['better']} is {how} {row['worse']} ({least:.3f} to {most:.3f})")
    count = len(comparisons)
    if not exceptions:
        return f"The papers' order holds in all {count} comparisons of methods."
    holding = f"The papers' order holds in {count - len(exceptions)} of {count} comparisons of methods."
    return f"{holding} Exceptions: {'; '.join(exceptions)}."
