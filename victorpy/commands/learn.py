"""Adapt a model to annotated pages, or train a new one.

examples:
  victor learn pages/ -o my-model                     adapt the bundled model, if that pays, to the .anno files below
  victor learn --data pages:DIR -o my-model           learn from pages with gold texts
  victor learn --from my-parent pages/ -o my-model    adapt another model
  victor learn --config crf pages/*.anno              train a new model with a config, and write models/crf
  victor clean --model my-model page.html             clean with the new model

Candidates are compared by cross-validation: the unchanged model, the adapted model, and models trained on the pages
alone. The best one is saved. `victor annotate` writes .anno files. Unconfirmed predictions in them are used as labels,
with a warning. To leave out files with unconfirmed predictions, give --only-confirmed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.base.digests import META
from victorpy.base.files import open_regular
from victorpy.commands import Arguments
from victorpy.commands._shared import add_allow_code, add_data, add_site_key, one_line
from victorpy.config import Config, load_config
from victorpy.errors import AnnotationError, ConfigError, DataError, ModelError, plural
from victorpy.model.choice import (
    OLD,
    SEVERAL_SITES,
    TREES,
    UNCHANGED,
    Learned,
    compare_new,
    learn,
    scratch_config,
)
from victorpy.model.evidence.replay import WEIGHT, load_replay
from victorpy.model.evidence.stage import Report, Weights
from victorpy.model.store import DEFAULT, Model, check_target, load_model
from victorpy.model.train import Trained, check_packages, find_annotations, load_pages, train, unused_features
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_progress
from victorpy.outputs.base import MAGIC
from victorpy.research.compare import count_training_pages
from victorpy.research.datasets import Warn, parse_data, set_name
from victorpy.research.gold import is_gold_of, load_gold
from victorpy.research.statistics import compare, summarise
from victorpy.sites.grouping import SITE_KEY, site_of

TARGETS = (5, 20, 50, 100)
"""Numbers of pages that the advice recommends, in steps. Additional pages help less and less."""

FEWEST_MORE = 1.2
"""The recommended number of pages is above this multiple of the number that there is."""

LEAST_SHOWN = 0.0005
"""Smaller differences in word F1 are shown as 0."""

FEWEST_DISPUTED = 5
"""Shorter texts, in words, are not checked: they may be content on one page and noise on another."""

NONE = "none"  # the value of --from that trains a new model


class Loaded(NamedTuple):
    """A page to learn from, the weights of its blocks, where it comes from, and its name there."""

    page: CleanPage
    weights: Sequence[float] | None
    source: str
    name: str


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pages", nargs="*", metavar="FILE.anno", type=Path, help="annotation files or directories")
    add_data(parser, required=False)
    origin = f"adapt MODEL, even if that does not pay; none trains a new model (default: adapt {DEFAULT} if that pays)"
    add("--from", dest="origin", metavar="MODEL", help=origin)
    add("-c", "--config", metavar="NAME", help="train a new model with this config: a shipped name or a file")
    add("-o", "--output", metavar="MODEL", type=Path, help="model directory (default: models/adapted or models/CONFIG)")
    replay = f"weight of general pages, which keeps them as they are (default: {WEIGHT:g}; 0: none)"
    add("--replay", type=float, metavar="W", default=WEIGHT, help=replay)
    add("--only-confirmed", action="store_true", help="leave out files with unconfirmed labels")
    add_allow_code(add)
    add_site_key(parser)
    add("--force", action="store_true", help="replace the model in the output directory")
    add("-q", "--quiet", action="store_true", help="print no progress and no summary")


def run(arguments: Arguments) -> int:
    if arguments.config and arguments.origin not in (None, NONE):
        raise ConfigError(
            "--config trains a new model, so it cannot be combined with --from; an adapted model has the features of "
            "the model that it came from"
        )
    is_new = arguments.config is not None or arguments.origin == NONE
    began = time.perf_counter()
    model = None if is_new else load_model(arguments.origin or DEFAULT, allow_code=arguments.allow_code)
    config = load_config(arguments.config or DEFAULT) if model is None else model.config
    target: Path = arguments.output or Path("models") / (config.name if is_new else "adapted")
    check_target(target)
    if (target / META).exists() and not arguments.force:
        raise ModelError(f"{target} contains a model already; choose another directory, or use --force to replace it")
    files, gold = _find_sources(arguments)
    check_packages(config)  # before the pages are read, which may take minutes
    pages, weights, counts = _load(arguments, files, gold, config)
    with one_line(arguments.quiet) as report:
        if model is None:
            trained, result = _train_new(arguments, config, pages, weights, report)
        else:
            trained, result = _adapt(arguments, model, pages, weights, report)
    if arguments.data:
        trained.training["data"] = [set_name(spec) for spec in arguments.data if ":" in spec]
    if arguments.site_key != SITE_KEY:
        trained.training["site_key"] = arguments.site_key
    trained.save(target)
    _warn_about(arguments, pages, weights)
    if not arguments.quiet:
        print("\n".join([_describe_pages(trained, counts), *result]))
        seconds = time.perf_counter() - began
        to_clean = arguments.as_typed(f"to clean with it: victor clean --model {target} PAGE.html")
        print(f"saved {target} after {seconds:.1f} s; {to_clean}")
    return 0


def _train_new(
    arguments: Arguments, config: Config, pages: Sequence[CleanPage], weights: Weights, report: Report
) -> tuple[Trained, list[str]]:
    """Train a new model. Return it with the last lines of the summary."""

    def show_iteration(info: Mapping[str, Any]) -> None:
        if sys.stderr.isatty() or info["num"] == 1:
            report(f"CRF, iteration {info['num']}, loss {info.get('loss', 0):.1f}")

    _warn_about_unused(arguments, config)
    if arguments.config is None:
        config = scratch_config(TREES, len(pages))
    trained = train(pages, config, show_iteration, report, arguments.site_key, weights)
    scores, stages = trained.training["scores"], trained.labeller.stages_
    lines = [
        f"{len(stages.crf.numbers) if stages else 0:,} attributes have weights",
        f"on the training pages, {scores['label_accuracy']:.2%} of labels are right, "
        f"and {scores['content_accuracy']:.2%} if only content and noise count",
    ]
    default = load_model(DEFAULT)
    _note_seen(arguments, default, DEFAULT, pages)
    name = TREES if arguments.config is None else f"new model, config {config.name}"
    learned = compare_new(trained, name, pages, default, weights, arguments.site_key, report)
    if learned is None:
        return trained, [*lines, "there are too few pages for cross-validation, so word F1 on unseen pages is unknown"]
    trained.training["unseen_word_f1"] = round(summarise(learned.scores[name]).mean, 4)
    return trained, [*lines, *_describe_choice(learned, DEFAULT)]


def _warn_about_unused(arguments: Arguments, config: Config) -> None:
    """Warn about features of the user's modules that would have no effect."""
    unused = unused_features(config)
    if not unused:
        return
    variables = "crf-features and crf-template"
    if config.get("evidence"):
        variables += ", or to evidence-template for trees"
    names, modules = ", ".join(unused), ", ".join(config.get("feature-modules"))
    arguments.note(f"the config does not use these features of {modules}: {names}; add them to {variables}")


def _adapt(
    arguments: Arguments, model: Model, pages: Sequence[CleanPage], weights: Weights, report: Report
) -> tuple[Trained, list[str]]:
    """Adapt a model, unless another candidate is better. Return the model with the last lines of the summary."""
    if arguments.replay < 0:
        raise ConfigError(f"--replay must be 0 or more, not {arguments.replay:g}")
    replay = load_replay(model.meta, arguments.replay) if arguments.replay else None
    _note_seen(arguments, model, arguments.origin or DEFAULT, pages)
    learned = learn(pages, model, weights, arguments.site_key, replay, arguments.origin is not None, report)
    if arguments.replay and replay is None:
        arguments.note("the sample of general pages does not fit this model, so other pages may become worse")
    return learned.trained, _describe_choice(learned, arguments.origin or DEFAULT)


def _note_seen(arguments: Arguments, model: Model, name: str, pages: Sequence[CleanPage]) -> None:
    """Say how many of the pages a model was trained on."""
    seen = count_training_pages(model.meta, [page.document for page in pages])
    if seen:
        arguments.note(f"{name} was trained on {seen:,} of these pages, so its score on them is too high")


def _describe_pages(trained: Trained, counts: Mapping[str, int]) -> str:
    story = trained.training
    labels = ", ".join(f"{count:,} {label}" for label, count in story["labels"].items())
    sources = " and ".join(f"{plural(count, 'page')} from {source}" for source, count in counts.items())
    return f"trained on {sources}, {story['blocks']:,} blocks ({labels})"


def _describe_choice(learned: Learned, origin: str) -> list[str]:
    """Return the table of candidates, and a sentence that says whether training paid and what to do next."""
    pages, unseen = len(learned.scores[UNCHANGED]), "pages of unseen sites" if learned.by_site else "unseen pages"
    if learned.sites >= SEVERAL_SITES and not learned.by_site:
        unseen += " of unknown sites"
    lines = [f"word F1 on {unseen} (cross-validation), with 95 % intervals:"]
    for name, scores in learned.scores.items():
        summary = summarise(scores)
        shown = f"{origin}, {name}" if name in OLD else name
        chosen = "  <- saved" if name == learned.chosen else ""
        lines.append(f"  {shown:<29} {summary.mean:.3f}  {summary.low:.3f} to {summary.high:.3f}{chosen}")
    if learned.general:
        before, after = learned.general
        lines.append(f"word F1 on general pages: {before:.3f} before, {after:.3f} after")
    target = next((target for target in TARGETS if target > FEWEST_MORE * pages), None)
    more = f"annotate about {plural(target - pages, 'more page')}" if target else "more pages will help little"
    if target and learned.sites < SEVERAL_SITES:
        more += " (of other sites, if you want to clean these too)"
    if learned.chosen == UNCHANGED:
        return [*lines, f"training did not pay, so the saved model is a copy of {origin}; {more}"]
    gain = compare(learned.scores[learned.chosen], learned.scores[UNCHANGED])
    difference = f"{gain.mean:+.3f} word F1, 95 % interval {gain.low:+.3f} to {gain.high:+.3f}"
    is_new = learned.chosen not in OLD
    if is_new and gain.mean < LEAST_SHOWN:
        pays = "does not pay"
        difference += f"; the unchanged model is as good or better, so use it or adapt it (--from {origin})"
    elif abs(gain.mean) < LEAST_SHOWN:
        pays, difference = "may pay", "these pages show no difference yet, but adapting usually gains a little"
    elif gain.mean > 0:
        pays = "pays" if gain.low > 0 and pages >= TARGETS[0] else "probably pays"
    else:
        pays = "may pay" if learned.expected_gain > 0 else "does not pay"
    if is_new:
        lines.append("the saved model knows only pages like these; use it for no others")
    return [*lines, f"training {pays}: {difference}; for a better model, {more}"]


def _find_sources(arguments: Arguments) -> tuple[Sequence[Path], Sequence[str]]:
    """Return the annotation files and the gold standards, each as ``KIND:DIR``.

    Raises if there is nothing to learn from, or if a file is not an annotation file.
    """
    specs = [spec for spec in arguments.data if ":" in spec or not Path(spec).exists()]
    typed_after_data = [Path(name) for name in arguments.data if name not in specs]
    kinds = {spec: parse_data(spec) for spec in specs}
    paths = arguments.pages + typed_after_data + [path for kind, path in kinds.values() if kind == "anno"]
    if not (paths or specs):
        raise DataError("nothing to learn from; give annotation files, or gold standards with --data KIND:DIR")
    for path in paths:
        if path.suffix != ".anno" and not path.is_dir():
            _check_annotation(path)
    gold = [spec for spec in specs if kinds[spec][0] != "anno"]
    return find_annotations(paths) if paths else [], gold


def _check_annotation(path: Path) -> None:
    """Raise if a file is not an annotation file but, for example, a page."""
    try:
        with open_regular(path) as file:
            is_annotation = file.read(len(MAGIC)) == MAGIC.encode()
    except OSError as error:
        raise AnnotationError(f"{path}: cannot be read: {error.strerror}") from error
    if not is_annotation:
        raise AnnotationError(
            f"{path}:1: not an annotation file; annotate the page first, with victor annotate {path}, "
            "or give gold texts with --data KIND:DIR"
        )


def _load(
    arguments: Arguments, files: Sequence[Path], gold: Sequence[str], config: Config
) -> tuple[list[CleanPage], Weights, Mapping[str, int]]:
    """Return the training pages, the weights of their blocks, and the number of pages from each source."""
    annotated = _load_annotations(arguments, files, config) if files else []
    loaded = [Loaded(page, None, "annotation files", str(file)) for file, page in annotated]

    def warn(message: str) -> None:
        arguments.say(f"left out: {message}")

    for spec in gold:
        for page in load_gold([spec], config, warn, arguments.site_key):
            name = f"{spec}: {page.name}"
            if not page.document.blocks:
                warn(f"{name}: the page has no text")
            elif page.weights is None and not is_gold_of(page.document, page.labels, page.gold):
                warn(f"{name}: most words of the gold are not on the page; it may be the gold of another page")
            else:
                loaded.append(Loaded(page.annotated, page.weights, spec, name))
    if not loaded:
        raise DataError(f"{', '.join(gold)}: no usable page")
    distinct = _without_copies(loaded, warn)
    return [row.page for row in distinct], [row.weights for row in distinct], Counter(row.source for row in distinct)


def _without_copies(loaded: Sequence[Loaded], warn: Warn) -> list[Loaded]:
    """Keep the first copy of each page."""
    copies: dict[int, list[Loaded]] = {}
    for row in loaded:
        copies.setdefault(hash(tuple(block.text for block in row.page.document.blocks)), []).append(row)
    if len(copies) < len(loaded):
        disputed = [rows for rows in copies.values() if len({tuple(row.page.labels) for row in rows}) > 1]
        advice = f"; check {plural(len(disputed), 'page')} whose copies have contradicting labels" if disputed else ""
        if disputed:
            advice += f" (the first: {', '.join(row.name for row in disputed[0])})"
        warn(f"copies of other pages: {len(loaded) - len(copies):,}{advice}")
    return [rows[0] for rows in copies.values()]


def _warn_about(arguments: Arguments, pages: Sequence[CleanPage], weights: Weights) -> None:
    """Warn about very few pages, pages of one site, and contradicting labels."""
    if len(pages) == 1:
        arguments.note("there is only one page to learn from; the model will hardly work on others")
    elif len(pages) < TARGETS[0]:
        arguments.note(f"there are only {len(pages)} pages to learn from, so the scores are very uncertain")
    sites = {site_of(page.document.url, arguments.site_key) for page in pages}
    if len(pages) > 1 and len(sites) == 1 and "" not in sites:
        arguments.note(f"all pages seem to be from {sites.pop()}; the scores hold for this site only")
    disputed = _disputed_texts([page for page, its_weights in zip(pages, weights, strict=True) if its_weights is None])
    if disputed:
        check = f"check the labels of {disputed[0][:60]!r}"
        arguments.note(f"texts that are content on one page and noise on another: {len(disputed):,}; {check}")


def _disputed_texts(pages: Sequence[CleanPage]) -> list[str]:
    """Return texts that are always content on one page of a site and always noise on another."""
    uses: dict[tuple[str, str], set[frozenset[bool]]] = {}
    for page in pages:
        labels: dict[str, set[bool]] = {}
        for block, label in zip(page.document.blocks, page.labels, strict=True):
            labels.setdefault(block.text, set()).add(label.is_content)
        for text, own in labels.items():
            uses.setdefault((site_of(page.document.url), text), set()).add(frozenset(own))
    both = {frozenset([True]), frozenset([False])}
    return [text for (_, text), its_uses in uses.items() if its_uses >= both and len(text.split()) >= FEWEST_DISPUTED]


def _load_annotations(arguments: Arguments, files: Sequence[Path], config: Config) -> list[tuple[Path, CleanPage]]:
    """Read annotation files. If some blocks have no label or only a model's label, skip the file or warn."""
    progress = ((file, *load_progress(file)) for file in files)
    unconfirmed = [(file, blocks - decided, blocks) for file, decided, blocks in progress if decided < blocks]
    if not unconfirmed:
        return _pages_of(files, config)
    first, its_unconfirmed, its_blocks = unconfirmed[0]
    total = sum(count for _, count, _ in unconfirmed)
    problem = (
        f"{len(unconfirmed):,} of {len(files):,} files have unconfirmed labels, {total:,} in all "
        f"(the first: {first}, {its_unconfirmed:,} of {its_blocks:,})"
    )
    if not arguments.only_confirmed:
        pages = _pages_of(files, config)
        arguments.say(f"{problem}; skip these files with --only-confirmed, or confirm labels with victor annotate")
        return pages
    left_out = {file for file, _, _ in unconfirmed}
    confirmed = [file for file in files if file not in left_out]
    if not confirmed:
        raise DataError(f"--only-confirmed leaves nothing to learn from: {problem}; finish some with victor annotate")
    arguments.note(f"left out: {problem}")
    return _pages_of(confirmed, config)


def _pages_of(files: Sequence[Path], config: Config) -> list[tuple[Path, CleanPage]]:
    return [*zip(files, load_pages(files, config), strict=True)]
