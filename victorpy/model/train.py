"""Train a model on annotated pages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from victorpy.config import Config
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.features import find_feature, load_modules, module_features
from victorpy.model.crf import Progress
from victorpy.model.evidence.inputs import load_tree_template
from victorpy.model.evidence.stage import Report, Weights
from victorpy.model.evidence.trees import EVIDENCE, KINDS, learners, tree_settings
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import save_model
from victorpy.model.template import load_template
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_anno, write_anno
from victorpy.sites.grouping import SITE_KEY
from victorpy.sites.style_tree import page_fingerprint

MOST_LISTED = 10_000
"""Maximum number of training pages that a model lists."""


@dataclass(frozen=True)
class Trained:
    """A labeller and the `training` entry of its meta.json."""

    labeller: ModelLabeller
    config: Config
    training: dict[str, Any]

    def save(self, directory: Path) -> None:
        save_model(directory, self.labeller, self.config, self.training)


def check_packages(config: Config) -> None:
    """Raise an error if a package for training or adapting a model of this config is missing."""
    for learner in learners(config) if config.get("evidence") else ():
        tree_settings(config, learner=learner)
    import_module("victorpy.model.crf.training")


def unused_features(config: Config) -> list[str]:
    """Return the features in the feature files of a config that neither the CRF nor the trees use."""
    load_modules(config)
    stages = [stage for stage in (EVIDENCE, KINDS) if config.get(stage)]
    crf = load_template(config)
    names = {crf.features[reference.feature] for line in crf.lines for reference in line}
    names.update(*(load_tree_template(config, stage).features for stage in stages))
    used = {feature.name for feature in map(find_feature, names) if feature}
    return [name for name in module_features(config) if name not in used]


def load_pages(paths: Sequence[Path], config: Config) -> list[CleanPage]:
    """Read annotation files, including those in directories."""
    return [load_anno(file, config.cuts) for file in find_annotations(paths)]


def find_annotations(paths: Sequence[Path]) -> list[Path]:
    """List annotation files. A directory stands for all annotation files below it."""
    files = [file for path in paths for file in (sorted(path.glob("**/*.anno")) if path.is_dir() else [path])]
    if not files:
        folder = paths[0] if paths else "DIR"
        raise DataError(f"{folder}: no annotation files (*.anno); for pages with gold texts: --data pages:{folder}")
    return files


def train(
    pages: Sequence[CleanPage],
    config: Config,
    progress: Progress | None = None,
    report: Report = lambda message: None,
    site_key: str = SITE_KEY,
    weights: Weights | None = None,
) -> Trained:
    """Train a model on annotated pages. `weights` are those of `ModelLabeller.fit`."""
    labeller = ModelLabeller(config, site_key=site_key)
    labeller.fit([page.document for page in pages], [page.labels for page in pages], progress, report, weights)
    return Trained(labeller, config, describe_training(pages, labeller, weights))


def describe_training(pages: Sequence[CleanPage], labeller: ModelLabeller, weights: Weights | None) -> dict[str, Any]:
    """Describe the training pages, and score the labeller on those without weights. On new pages, scores are lower."""
    known = [page for page, factor in zip(pages, weights or [None] * len(pages), strict=True) if factor is None]
    digest = hashlib.sha256()
    for text in sorted(write_anno(page) for page in pages):
        digest.update(text.encode())
    fingerprints = sorted({page_fingerprint(page.document) for page in pages})
    gold_labels = [label for page in known for label in page.labels]
    predicted = [label for page in known for label in labeller.label(page.document).labels]
    pairs = list(zip(predicted, gold_labels, strict=True))
    right = sum(ours == gold for ours, gold in pairs)
    right_content = sum((ours is Label.OTHER) == (gold is Label.OTHER) for ours, gold in pairs)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "pages": len(pages),
        "blocks": sum(len(page.labels) for page in pages),
        "labels": dict(sorted(Counter(map(str, gold_labels)).items())),
        "data-sha256": digest.hexdigest(),
        "fingerprints": " ".join(fingerprints) if len(pages) <= MOST_LISTED else None,
        "scores": {
            "label_accuracy": round(right / max(len(pairs), 1), 6),
            "content_accuracy": round(right_content / max(len(pairs), 1), 6),
        },
    }
