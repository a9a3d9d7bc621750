"""Save and load model directories. A directory is verified before any of its files is opened.

config.conf      the resolved configuration
template.tpl     the template
tables.npy       the CRF's weights as victorpy uses them
model.crfsuite   the same weights in crfsuite's format
evidence.tpl     with evidence: trees, the inputs of the trees
lexicon.tsv      with evidence: trees, the log-odds of names and words
trees.npy        with evidence: trees, the trees
net.npy          with evidence-net, the net beside the trees
adaptation.tsv   in an adapted model, the log-odds of names and words on the user's pages
adaptation.npy   in an adapted model, the trees added to those of the model
kinds.tpl        with kinds: trees, the inputs of the trees for kinds
kinds.npy        with kinds: trees, the trees for kinds
roles.npy        optional, the trees for roles
meta.json        labels, digests of every file, and a description of the training data
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from victorpy.base.digests import META, MOST_BYTES, read_meta, verify_directory, write_directory
from victorpy.base.files import read_bounded
from victorpy.base.resources import shipped
from victorpy.base.version import __version__
from victorpy.config import Config, read_config
from victorpy.document import Label
from victorpy.errors import ModelError, VictorError, suggest
from victorpy.features import load_modules
from victorpy.model.crf.tables import Tables
from victorpy.model.evidence import Evidence
from victorpy.model.evidence.adaptation import LEXICON_FILE as ADAPTED_LEXICON_FILE
from victorpy.model.evidence.adaptation import TREES_FILE as ADAPTED_TREES_FILE
from victorpy.model.evidence.adaptation import Adaptation
from victorpy.model.evidence.kinds import KINDS_FILE, Kinds
from victorpy.model.evidence.stage import LEXICON_FILE, NET_FILE, TREES_FILE
from victorpy.model.labeller import ModelLabeller, Stages
from victorpy.model.role_trees import ROLES_FILE, RoleTrees
from victorpy.model.template import load_template

FORMAT = 1
DEFAULT = "default"


@dataclass(frozen=True)
class Model:
    """A trained labeller with its configuration and the content of its meta.json."""

    labeller: ModelLabeller
    config: Config
    meta: Mapping[str, Any] = field(default_factory=dict)


def save_model(directory: Path, labeller: ModelLabeller, config: Config, training: Mapping[str, Any]) -> None:
    """Write a model directory atomically. An existing model is replaced; any other directory is an error."""
    stages = labeller.stages_
    if stages is None:
        raise ModelError("this labeller has not been trained: there is nothing to save")
    import platform
    import shutil

    check_target(directory)
    meta = {
        "format": FORMAT,
        "labels": list(stages.crf.labels),
        "versions": {"victorpy": __version__}
        | {name: _version(name) for name in ("python-crfsuite", "catboost", "numpy", "lxml")},
        "python": platform.python_version(),
        "attributes": len(stages.crf.numbers),
        "training": dict(training),
    }
    with write_directory(directory, meta) as fresh:
        # The saved config refers to the files in the model directory.
        own: dict[str, tuple[str, ...]] = {"crf-template": ("template.tpl",), "feature-modules": ()}
        for variable in ("feature-modules", "style-files"):
            for source in config.files(variable):
                shutil.copyfile(source, fresh / source.name)
                own[variable] = (*own.get(variable, ()), source.name)
        (fresh / "template.tpl").write_text(stages.crf.layout.template.text, encoding="utf-8")
        (fresh / "model.crfsuite").write_bytes(stages.crfsuite_model)
        stages.crf.save(fresh / "tables.npy")
        for name, stage in {"evidence": stages.evidence, "kinds": stages.kinds}.items():
            if stage is not None:
                own[f"{name}-template"] = (f"{name}.tpl",)
                (fresh / f"{name}.tpl").write_text(stage.inputs.template.text, encoding="utf-8")
                stage.save(fresh)
        if stages.adaptation is not None:
            stages.adaptation.save(fresh)
        if stages.roles is not None:
            stages.roles.save(fresh)
        resolved = replace(config, values={**config.values, **own})
        (fresh / "config.conf").write_text(resolved.text(), encoding="utf-8")


def check_target(directory: Path) -> None:
    """Raise ModelError if a model cannot be saved here, or would replace something else."""
    if directory.exists() and not directory.is_dir():
        raise ModelError(f"{directory} is a file, but a model is a directory: choose another path")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / META).is_file():
        raise ModelError(f"{directory} is not empty and not a model: choose another path")
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not os.access(existing, os.W_OK):
        raise ModelError(f"{directory} cannot be written: no permission in {existing}")


def bundled_models() -> list[str]:
    """Return the names of the models that come with victorpy."""
    return sorted(path.parent.name for path in shipped("models").glob(f"*/{META}"))


def find_model(name: str | Path) -> Path:
    """Find a model by path or plain name: a bundled model, or else a model in ./models or the current directory.

    A plain name always refers to the bundled model, even if a directory here has the same name.
    """
    name = str(name)
    candidates = [Path(name)]
    if len(Path(name).parts) == 1:
        candidates = [shipped("models") / name, Path("models") / name, Path(name)]
    with suppress(OSError):  # a name that is too long
        for path in candidates:
            if (path / META).exists():
                return path
        if Path(name).exists():
            raise ModelError(f"{name} is not a model directory: it has no meta.json")
    bundled = bundled_models()
    raise ModelError(f"no model {name!r}{suggest(name, bundled)}; choose from {', '.join(bundled)}, or give a path")


def load_model(name: str | Path = DEFAULT, allow_code: bool = False) -> Model:
    """Verify a model directory and load it. If it contains Python code, `allow_code` must be true."""
    directory = find_model(name)
    meta = read_meta(directory)
    if meta["format"] != FORMAT:
        raise ModelError(
            f"{directory} has format {meta['format']}, but this version reads format {FORMAT}: train the model again"
        )
    digests = verify_directory(directory, meta)
    try:
        _check_files(digests, "config.conf", "tables.npy", "model.crfsuite")
        config = read_config(directory / "config.conf", digests, allow_code)
        load_modules(config)
        _check_files(digests, *([LEXICON_FILE, TREES_FILE] if config.get("evidence") else []))
        _check_files(digests, *([NET_FILE] if config.get("evidence") and config.get("evidence-net") else []))
        _check_files(digests, *([KINDS_FILE] if config.get("kinds") else []))
        labels = tuple(Label(label) for label in meta["labels"])
        if len(set(labels)) < len(labels):
            raise ValueError("its labels are not different")
        tables = Tables.load(directory / "tables.npy", tuple(map(str, labels)), load_template(config))
        evidence = Evidence.load(directory, config) if config.get("evidence") else None
        kinds = Kinds.load(directory, config, evidence.input_count) if config.get("kinds") and evidence else None
        adaptation = None
        if evidence is not None and ADAPTED_TREES_FILE in digests:
            _check_files(digests, ADAPTED_LEXICON_FILE)
            adaptation = Adaptation.load(directory, evidence.input_count)
        if kinds is not None and not set(kinds.labels) <= set(tables.labels):
            raise ValueError("its trees have kinds that its CRF does not have")
        crfsuite_model = read_bounded(directory / "model.crfsuite", MOST_BYTES)
        labeller = ModelLabeller(config)
        roles = RoleTrees.load(directory) if ROLES_FILE in digests else None
        labeller.stages_ = Stages(tables, crfsuite_model, evidence, kinds, adaptation, roles)
        labeller.prepare()
    except ModelError:
        raise
    except (VictorError, ValueError, KeyError, TypeError, IndexError, OSError, RecursionError) as error:
        raise ModelError(f"{directory} cannot be loaded by this version of victorpy: {error}") from error
    return Model(labeller, config, meta)


def _check_files(digests: Mapping[str, str], *names: str) -> None:
    for name in names:
        if name not in digests:
            raise ValueError(f"meta.json does not list {name}")


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
