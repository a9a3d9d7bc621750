"""Train the trees for roles of an existing model, and score them on pages of other sites.

    python -m tools.roles --data wcxb:DIR dragnet:DIR ... --model victorpy/data/models/default

The model's own labels say which blocks are kept. The roles of blocks come from gold standards where they name them:
WCXB's title, author and date, the classes of L3S, the comments of Dragnet. Elsewhere they come from the rules, which
read names of elements, applied to the gold labels. On some pages the names are hidden from the trees, so that they
learn to do without them. Training the trees takes less than a minute; reading the pages takes longer.

Two forests per role, each trained on half of the sites, give the scores and the thresholds. Where no gold standard
names a role, the scores compare with the rules, while the names that the rules read are hidden from the trees.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.lib.role_gold import READERS, GoldRole
from benchmarks.lib.tables import table
from victorpy.base.score import Score
from victorpy.columns import NEAR, Columns, Flags, Floats
from victorpy.document import Role
from victorpy.errors import VictorError
from victorpy.model.evidence.trees import Forest, Matrix
from victorpy.model.role_trees import KEPT_INPUTS, LEARNED, RECORD_ROLES, RoleTrees, fit_forest, own_inputs, role_inputs
from victorpy.model.roles import by_rules, kept_flags
from victorpy.model.store import load_model, save_model
from victorpy.research.datasets import parse_data, read_dataset, set_name
from victorpy.research.gold import label_page
from victorpy.sites.grouping import make_folds

HIDDEN = 0.3  # share of the training pages whose names are hidden from the trees
MOST_BLOCKS = 40
"""Number of blocks of a page to learn from. Blocks with rare roles are drawn more often."""
FREQUENT = frozenset([Role.BODY, Role.COMMENT, Role.RELATED, Role.NAVIGATION, Role.OTHER])
RARE_FACTOR = 4.0


@dataclass
class Page:
    """The inputs of a page's blocks, and what is known about their roles."""

    data: str
    site: str
    inputs: Matrix
    names: list[str]
    roles: list[Role]
    gold: dict[Role, GoldRole]
    is_thread: bool
    log_odds: dict[Role, Floats] = field(default_factory=dict)  # from forests that have not seen the page's site
    hidden_log_odds: dict[Role, Floats] = field(default_factory=dict)
    """The same without names of elements, for roles that only names tell."""


def find_roles(columns: Columns, is_content: Flags, gold: dict[Role, GoldRole]) -> list[Role]:
    """Return the role that each block should have."""
    roles = by_rules(columns, is_content)
    is_form = columns.within("form") | columns.within("label") | columns.within("button")
    is_menu = (columns.link_words > 0.6 * columns.words) | columns.within("nav") | is_form
    for number, role in enumerate(roles):
        is_wrong = role in gold and role in {Role.HEADLINE, Role.COMMENT}
        is_wrong |= is_content[number] and role in {Role.COMMENT, Role.RELATED}
        if is_wrong or (is_form[number] and role is Role.COMMENT):
            roles[number] = Role.BODY if is_content[number] else Role.NAVIGATION if is_menu[number] else Role.OTHER
    for role, blocks in gold.items():
        for number in blocks.blocks:
            roles[number] = role
    return roles


def read(specs: Sequence[str], model: Path) -> list[Page]:
    """Read the pages of data sets and compute their inputs."""
    labeller, pages = load_model(model).labeller, []
    config = labeller.prepare().config
    for spec in specs:
        kind, directory = parse_data(spec)
        for gold_page in read_dataset(kind, directory, lambda message: None):
            try:
                page = label_page(gold_page, spec, config)
            except VictorError:
                continue
            if not page.document.blocks or page.weights is not None:
                continue
            columns, is_kept = Columns(page.document, config), kept_flags(labeller.label(page.document).labels)
            gold = READERS[kind](gold_page, page.document, directory, config) if kind in READERS else {}
            names, inputs = role_inputs(columns, is_kept, np.arange(columns.count), LEARNED)
            roles = find_roles(columns, kept_flags(page.labels), gold)
            is_thread = gold_page.page_type == "forum"
            pages.append(Page(set_name(spec), page.site, inputs, names, roles, gold, is_thread))
        print(f"{set_name(spec)}: read, {len(pages):,} pages", file=sys.stderr, flush=True)
    return pages


def is_unknown(page: Page, role: Role) -> Flags:
    """Return the blocks that a role's forest learns nothing from.

    Only some gold standards know comments. Elsewhere, what is named a comment may be one or not, except in a forum.
    """
    unknown = np.zeros(len(page.roles), dtype=bool)
    if role in page.gold:
        unknown[[*page.gold[role].unknown]] = True
    elif role is Role.COMMENT and not page.is_thread:
        unknown = page.inputs[page.names.index("name.comment")] < NEAR
    return unknown


def fit(pages: Sequence[Page], seed: int = 1) -> dict[Role, Forest]:
    """Train a forest for every role."""
    random = np.random.default_rng(seed)
    samples: list[tuple[Matrix, list[Role], Floats, dict[Role, Flags]]] = []
    for page in pages:
        factor = np.array([1.0 if role in FREQUENT else RARE_FACTOR for role in page.roles])
        share = np.minimum(1, factor * MOST_BLOCKS / factor.sum())
        chosen = np.flatnonzero(random.random(len(share)) < share)
        inputs = page.inputs[:, chosen]
        if random.random() < HIDDEN:
            inputs = hide_names(inputs, page.names)
        known = {role: ~is_unknown(page, role)[chosen] for role in LEARNED}
        samples.append((inputs, [page.roles[number] for number in chosen], share[chosen] ** -0.5, known))
    matrix = np.hstack([sample[0] for sample in samples])
    roles = np.array([role for sample in samples for role in sample[1]])
    weights = np.concatenate([sample[2] for sample in samples])
    forests = {}
    for role in LEARNED:
        is_known = np.concatenate([sample[3][role] for sample in samples])
        names = pages[0].names
        inputs = matrix[: own_inputs(role, names), is_known]
        if role in RECORD_ROLES:
            inputs[[names.index(name) for name in KEPT_INPUTS]] = 0  # trees ask nothing about a constant
        forests[role] = fit_forest(inputs, (roles == role)[is_known], weights[is_known])
    return forests


def hide_names(inputs: Matrix, names: Sequence[str]) -> Matrix:
    """Return the inputs of a page whose elements have no telling names."""
    hidden = inputs.copy()
    for row, name in enumerate(names):
        if name.startswith("name."):
            hidden[row] = NEAR
        elif name in {"in.figcaption", "in.figure", "page.comment", "page.thread", "page.named"}:
            hidden[row] = 0
    return hidden


def best_threshold(pages: Sequence[Page], role: Role) -> float:
    """Return the log-odds above which a block has the role, for the best F1 over pages that know the role."""
    log_odds, truth = [], []
    for page in pages:
        if role in page.gold or role not in {Role.HEADLINE, Role.BYLINE, Role.COMMENT}:
            known = ~is_unknown(page, role)
            log_odds.append(page.log_odds[role][known])
            truth.append(np.array([own is role for own in page.roles])[known])
    values, is_true = np.concatenate(log_odds), np.concatenate(truth)
    order = np.argsort(-values)
    right = np.cumsum(is_true[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + max(right[-1], 1))
    return float(values[order[f1.argmax()]]) - 1e-6


def score(pages: Sequence[Page], thresholds: dict[Role, float]) -> str:
    """Return a table with the F1 of each role by data set. Where the gold is silent, rules on hidden names decide."""
    rows = []
    for data, role in itertools.product(sorted({page.data for page in pages}), LEARNED):
        own = [page for page in pages if page.data == data]
        known = [page for page in own if role in page.gold]
        right = found = total = 0
        for page in known or own:
            is_counted = ~is_unknown(page, role)
            truth = np.array([name is role for name in page.roles])
            if known:
                truth = np.isin(np.arange(len(truth)), [*page.gold[role].blocks])
            log_odds = (page.log_odds if known else page.hidden_log_odds)[role]
            is_found = (log_odds > thresholds[role]) & is_counted
            if role is Role.HEADLINE:  # a page has one
                is_found &= log_odds == log_odds[is_counted].max(initial=-np.inf)
            right += int((truth & is_found).sum())
            found, total = found + int(is_found.sum()), total + int((truth & is_counted).sum())
        result = Score(right, found, total)
        values = [f"{value:.3f}" for value in (result.precision, result.recall, result.f1)]
        if total:
            rows.append([data, str(role), "gold" if known else "rules", str(total), *values])
    return table(["data", "role", "compared with", "blocks", "precision", "recall", "F1"], rows)


def train(pages: Sequence[Page]) -> RoleTrees:
    """Train the trees, and print their scores on other sites."""
    names = pages[0].names
    fold_of = make_folds([page.site for page in pages], 2, seed=1)
    for fold in range(2):
        forests = fit([page for page, own in zip(pages, fold_of, strict=True) if own != fold])
        for page in (page for page, own in zip(pages, fold_of, strict=True) if own == fold):
            hidden = hide_names(page.inputs, names)
            for role, forest in forests.items():
                count = own_inputs(role, names)
                page.log_odds[role] = forest.log_odds(page.inputs[:count])
                if role not in page.gold:
                    page.hidden_log_odds[role] = forest.log_odds(hidden[:count])
    thresholds = {role: best_threshold(pages, role) for role in LEARNED}
    print(score(pages, thresholds))
    final = fit(pages)
    shifted = {role: replace(final[role], bias=final[role].bias - thresholds[role]) for role in LEARNED}
    return RoleTrees(tuple(names), shifted)


def main() -> None:
    """Read, score, train, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="KIND:DIR")
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()
    try:
        pages = read(arguments.data, arguments.model)
        add_trees(arguments.model, train(pages))
    except VictorError as error:
        parser.error(str(error))


def add_trees(directory: Path, trees: RoleTrees) -> None:
    """Write trees for roles into a model directory. All other files stay the same."""
    model = load_model(directory)
    stages = model.labeller.stages_
    assert stages is not None  # a loaded model is trained
    model.labeller.stages_ = replace(stages, roles=trees)
    save_model(directory, model.labeller, model.config, model.meta["training"])


if __name__ == "__main__":
    main()
