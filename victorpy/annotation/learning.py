"""Models of the annotation tool: predict labels, and train on finished pages in the background.

``python -m victorpy.annotation.learning FOLDER MODEL ALLOW_CODE`` adapts a model in a separate process to the
annotations in ``FOLDER/data``, as ``victor learn`` does. The result is saved in ``FOLDER/model``, and its scores in
``FOLDER/learned.json``.

The program always adapts the model that it started with. A model from an earlier training would have seen the pages
that it is tested on.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import victorpy
from victorpy.annotation.session import Prediction
from victorpy.cleaner import Cleaner
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.model.store import DEFAULT, find_model, load_model

FEWEST = 3  # minimum number of finished pages for training


@dataclass(frozen=True)
class Predictor:
    """A model with its name."""

    cleaner: Cleaner
    name: str
    identity: str  # the name and a digest, which changes when the model is trained again
    directory: Path
    allow_code: bool = False  # whether the Python code in the model may run

    @classmethod
    def load(cls, model: str | Path, name: str = "", allow_code: bool = False) -> Self:
        directory = find_model(model)
        cleaner = Cleaner.load(directory, allow_code=allow_code)
        digest = hashlib.blake2b((directory / "meta.json").read_bytes(), digest_size=6).hexdigest()
        name = name or str(model)
        return cls(cleaner, name, f"{name} {digest}", directory, allow_code)

    def __call__(self, document: Document) -> Prediction:
        labelling = self.cleaner.labeller.label(document)
        return Prediction.of(labelling.labels, labelling.probabilities, self.identity)

    def uncertainty(self, document: Document) -> float:
        """Return the mean entropy of a page, in bits."""
        return mean_entropy(document, self.cleaner.labeller.label(document).content)


def mean_entropy(document: Document, content: Sequence[float]) -> float:
    """Return the mean entropy per word of the content probabilities, in bits."""
    words = [len(block.text.split()) or 1 for block in document.blocks]
    total = sum(count * entropy(chance) for count, chance in zip(words, content, strict=bool(content)))
    return total / max(sum(words), 1)


def entropy(chance: float) -> float:
    """Return the entropy of a yes-or-no question in bits.

    >>> entropy(0.5), entropy(1.0)
    (1.0, 0.0)
    """
    return -sum(share * math.log2(share) for share in (chance, 1 - chance) if share > 0) or 0.0


@dataclass(frozen=True)
class Learned:
    """The scores of a trained model on unseen pages."""

    pages: int
    before: float  # mean word F1 of the model at the start
    after: float  # mean word F1 of the best candidate
    is_better: bool  # whether the candidate is better than the model at the start

    def __str__(self) -> str:
        trained = f"Trained on {self.pages:,} pages"
        if not self.is_better:
            return f"{trained}: no better on unseen pages than the model at the start (word F1 {self.before:.3f})"
        return f"{trained}: word F1 {self.after:.3f} on unseen pages, {self.after - self.before:+.3f}"


class Learning:
    """Trains models on finished pages, and switches to a better one."""

    def __init__(self, start: Predictor | None, say: Callable[[str], None]) -> None:
        self.predictor = start  # the model in use
        self._start = start
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._folders: list[Path] = []  # one folder per training; the running process uses the last one
        self._learned_from = 0

    def begin(self, finished: Sequence[Path], asked: bool) -> None:
        """Start training if enough pages are finished. If the user asked for it, explain why it does not start."""
        if len(finished) < FEWEST:
            self._say(f"Training needs at least {FEWEST} finished pages ({len(finished)} so far)")
        elif self._process is not None or len(finished) <= self._learned_from:
            if asked:
                is_running = self._process is not None
                no_more = "No more pages have been finished since the last training"
                self._say("Training is already running" if is_running else no_more)
        else:
            try:
                self._start_process(finished)
                self._say(f"Training on {len(finished):,} finished pages in the background")
            except OSError as error:
                self._say(f"Training cannot start: {error}")

    def _start_process(self, annotations: Sequence[Path]) -> None:
        """Train on copies of the annotations, since the user may change them in the meantime."""
        folder = Path(tempfile.mkdtemp(prefix="victor-annotate-"))
        self._folders.append(folder)
        (folder / "data").mkdir()
        for number, path in enumerate(annotations):
            shutil.copyfile(path, folder / "data" / f"{number:05}.anno")
        source = str(Path(victorpy.__file__).parents[1])
        search_path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        model, allow_code = (self._start.directory, self._start.allow_code) if self._start else (DEFAULT, False)
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(folder), str(model), "yes" if allow_code else ""],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": search_path},
                start_new_session=True,
            )
        self._learned_from = len(annotations)

    def see(self) -> bool:
        """Use the result if training has ended. Return whether the model has changed."""
        if self._process is None or self._process.poll() is None:
            return False
        has_failed = self._process.returncode != 0
        folder, self._process = self._folders[-1], None
        previous = self.predictor
        try:
            if has_failed:
                lines = (folder / "log").read_text(errors="replace").split("\n")
                last_lines = (line for line in reversed(lines) if line.strip())
                raise VictorError(next(last_lines, "the process ended without a message"))
            learned = Learned(**json.loads((folder / "learned.json").read_bytes()))
            if learned.is_better or self._start is None:
                allow_code = self._start is not None and self._start.allow_code
                name = f"the model adapted to {learned.pages:,} pages"
                self.predictor = Predictor.load(folder / "model", name, allow_code)
            else:
                self.predictor = self._start
            self._say(str(learned))
        except (VictorError, OSError, ValueError, TypeError) as error:
            self._say(f"Training failed: {error}")
        return self.predictor is not previous

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


def learn(folder: Path, model: str, allow_code: bool) -> Learned:
    """Adapt a model to the annotations in a folder, if that pays."""
    from victorpy.model import choice
    from victorpy.model.evidence.replay import load_replay
    from victorpy.model.train import load_pages

    parent = load_model(model, allow_code)
    pages = load_pages([folder / "data"], parent.config)
    result = choice.learn(pages, parent, replay=load_replay(parent.meta))
    result.trained.save(folder / "model")
    before, after = (statistics.fmean(result.scores[name]) for name in (choice.UNCHANGED, result.chosen))
    learned = Learned(len(pages), before, after, result.chosen != choice.UNCHANGED)
    (folder / "learned.json").write_text(json.dumps(asdict(learned)))
    return learned


if __name__ == "__main__":
    os.nice(10)
    try:
        learn(Path(sys.argv[1]), sys.argv[2], allow_code=bool(sys.argv[3]))
    except VictorError as error:
        sys.exit(str(error))
