"""A model directory: written whole, and verified before any of it is opened.

config.conf      the resolved configuration
template.tpl     the template
tables.npy       the weights, as victorpy runs them
model.crfsuite   the same weights as crfsuite's own model
evidence.tpl     with evidence: trees, the numbers that the trees decide by ...
lexicon.tsv      ... what names and words stand for ...
trees.npy        ... and the trees
kinds.tpl        with kinds: trees, the numbers that these trees decide by ...
kinds.npy        ... and they themselves
meta.json        labels, digests of every file, and what the model was trained on
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from victorpy.config import Config, read_config
from victorpy.crf.tables import Tables
from victorpy.errors import ModelError, VictorError, suggest
from victorpy.evidence import Evidence
from victorpy.evidence.kinds import Kinds
from victorpy.features.base import find_modules
from victorpy.labellers.crf import CRFLabeller
from victorpy.resources import shipped
from victorpy.template import load_template

FORMAT = 1
DEFAULT = "default"
_MODELS = Path("models")


@dataclass(frozen=True)
class Model:
    """A trained labeller with its configuration and its story."""

    labeller: CRFLabeller
    config: Config
    meta: Mapping[str, Any] = field(default_factory=dict)


def save_model(directory: Path, labeller: CRFLabeller, config: Config, training: Mapping[str, Any]) -> None:
    """Write a model directory; it appears whole or not at all, and replaces only another model."""
    if labeller.tables_ is None:
        raise ModelError("this labeller has not been trained: there is nothing to save")
    check_target(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".saving-") as temporary:
        fresh = Path(temporary) / "model"
        fresh.mkdir()
        _write_files(fresh, labeller, labeller.tables_, config)
        _write_meta(fresh, labeller.tables_, training)
        _put_in_place(fresh, directory)


def check_target(directory: Path) -> None:
    """Refuse to save a model where something else is."""
    if directory.exists() and not directory.is_dir():
        raise ModelError(f"{directory}: is a file; a model is a directory")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / "meta.json").is_file():
        raise ModelError(f"{directory}: is not empty and is no model: choose another place")
    existing = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not os.access(existing, os.W_OK):
        raise ModelError(f"{directory}: cannot be written: no permission in {existing}")


def _write_files(directory: Path, labeller: CRFLabeller, tables: Tables, config: Config) -> None:
    modules = find_modules(config)
    for source in modules:
        shutil.copyfile(source, directory / source.name)
    own = {
        "crf-template": ("template.tpl",),
        "feature-modules": tuple(source.name for source in modules),
    }
    if labeller.evidence_ is not None:
        own["evidence-template"] = ("evidence.tpl",)
    if labeller.kinds_ is not None:
        own["kinds-template"] = ("kinds.tpl",)
    resolved = replace(config, values={**config.values, **own})
    (directory / "config.conf").write_text(resolved.text(), encoding="utf-8")
    (directory / "template.tpl").write_text(tables.layout.template.text, encoding="utf-8")
    (directory / "model.crfsuite").write_bytes(labeller.crfsuite_model_)
    tables.save(directory / "tables.npy")
    if labeller.evidence_ is not None:
        template = labeller.evidence_.inputs.template
        (directory / "evidence.tpl").write_text(template.text, encoding="utf-8")
        labeller.evidence_.save(directory)
    if labeller.kinds_ is not None:
        (directory / "kinds.tpl").write_text(labeller.kinds_.inputs.template.text, encoding="utf-8")
        labeller.kinds_.save(directory)


def _write_meta(directory: Path, tables: Tables, training: Mapping[str, Any]) -> None:
    meta: dict[str, Any] = {
        "format": FORMAT,
        "labels": list(tables.labels),
        "files": {path.name: _digest(path.read_bytes()) for path in sorted(directory.iterdir())},
        "versions": {name: _version(name) for name in ("victorpy", "python-crfsuite", "catboost", "numpy", "lxml")},
        "python": platform.python_version(),
        "attributes": len(tables.numbers),
        "training": dict(training),
    }
    meta["digest"] = _meta_digest(meta)
    (directory / "meta.json").write_text(json.dumps(meta, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _put_in_place(fresh: Path, directory: Path) -> None:
    if directory.exists():
        directory.replace(fresh.parent / "old")
    fresh.replace(directory)


def find_model(name: str | Path) -> Path:
    """Find a model by path; a mere name is a bundled one, else one of ./models or of the current directory.

    What lies in the current directory never takes the place of a bundled model.
    """
    places = [Path(name)]
    if len(Path(name).parts) == 1:
        places = [shipped("models") / name, _MODELS / name, Path(name)]
    for place in places:
        if (place / "meta.json").exists():
            return place
    if Path(name).exists():
        raise ModelError(f"{name}: not a model directory: there is no meta.json in it")
    known = sorted(path.parent.name for path in shipped("models").glob("*/meta.json"))
    raise ModelError(
        f"no model {str(name)!r}{suggest(str(name), known)}; bundled are {', '.join(known)}, or give a path"
    )


def load_model(name: str | Path = DEFAULT) -> Model:
    """Verify a model directory and load it."""
    directory = find_model(name)
    meta = _verified_meta(directory)
    try:
        config = read_config(directory / "config.conf")
        template = load_template(config)
        tables = Tables.load(directory / "tables.npy", tuple(meta["labels"]), template)
        evidence = Evidence.load(directory, config) if config.get("evidence") else None
        kinds = Kinds.load(directory, config, evidence.rows) if config.get("kinds") and evidence else None
        if kinds is not None and not set(kinds.labels) <= set(tables.labels):
            raise ValueError("its trees tell kinds apart that its CRF does not know")
        crfsuite_model = (directory / "model.crfsuite").read_bytes()
        labeller = CRFLabeller(config).with_tables(tables, crfsuite_model, evidence, kinds)
        labeller.prepare()
    except (VictorError, ValueError, KeyError, TypeError, IndexError, OSError) as error:
        raise ModelError(f"{directory}: cannot be loaded by this version of victorpy: {error}") from error
    return Model(labeller, config, meta)


def _verified_meta(directory: Path) -> dict[str, Any]:
    """Read meta.json and hold every file against the digest that it gives."""
    path = directory / "meta.json"
    try:
        meta = json.loads(path.read_bytes())
        digest, listed = meta["digest"], dict(meta["files"])
        stored_format = meta["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}") from error
    if stored_format != FORMAT:
        raise ModelError(
            f"{directory}: a model of format {stored_format}; this victorpy reads format {FORMAT}: train it again"
        )
    if digest != _meta_digest(meta):
        raise ModelError(f"{path}: damaged: its content does not match its digest")
    for name, expected in listed.items():
        _verify(directory / name, expected)
    return dict(meta)


def _verify(path: Path, expected: str) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{path}: missing or unreadable ({error.strerror}); get the model again or train it again"
        ) from error
    if _digest(content) != expected:
        raise ModelError(
            f"{path}: damaged: it does not match the digest in meta.json; get the model again or train it again"
        )


def _meta_digest(meta: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in meta.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
