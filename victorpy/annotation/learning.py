"""Learn from finished pages in the background, and choose the model to use afterwards.

``python -m victorpy.annotation.learning FOLDER CONFIG MODEL`` learns in a process of its own from the annotations in
``FOLDER/data``: once without every third page, to measure the result on those, and then from all of them. The model
goes to ``FOLDER/model``, and the measurements are printed as a line of JSON.

A learned model is always compared with the model that the program started with. An earlier learned model would be at
an advantage: it has learned from the held-out pages, too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import victorpy
from victorpy.annotation.pages import Entry
from victorpy.annotation.predictor import Predictor
from victorpy.annotation.tui.text import visible
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import VictorError, plural
from victorpy.model.train import load_pages, train

FEWEST = 3
"""Minimum number of pages: with fewer there would be none to measure the result on."""
CONFIG = "crf"
"""It learns in seconds; the default config takes an hour."""


@dataclass(frozen=True)
class Learned:
    """The measurements of a learned model."""

    pages: int
    held_out: int
    """Number of held-out pages that it was measured on."""
    before: float | None
    """Accuracy of the model at the start on the held-out pages; None if there is no model."""
    after: float
    """Accuracy of the learned model."""

    @property
    def is_better(self) -> bool:
        return self.before is None or self.after > self.before

    def __str__(self) -> str:
        shares = f"{self.after:.0%} of labels correct on {plural(self.held_out, 'held-out page')}"
        before = "" if self.before is None else f"; the model at the start gets {self.before:.0%}"
        taken = "" if self.is_better else " and stays in use"
        return f"Trained on {self.pages:,} pages: {shares}{before}{taken}"


class Learning:
    """Learns from finished pages, and compares the result with the model at the start."""

    def __init__(self, start: Predictor | None, say: Callable[[str], None]) -> None:
        self.predictor = start
        """The model in use."""
        self._start = start
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._folders: list[Path] = []
        """The process uses the last one."""
        self._learned_from = 0

    def begin(self, entries: Sequence[Entry], asked: bool) -> None:
        """Start learning if enough new pages are finished. If the user asked for it, explain why not."""
        finished = [entry.anno for entry in entries if entry.is_finished and entry.anno.exists()]
        if len(finished) < FEWEST:
            self._say(f"Training needs at least {FEWEST} finished pages ({len(finished)} so far)")
        elif self._process is not None or len(finished) <= self._learned_from:
            if asked:
                self._say(
                    "No more pages have been finished since the last training"
                    if self._process is None
                    else "Training is already running"
                )
        else:
            try:
                self._start_process(finished)
                self._say(f"Training on {len(finished):,} finished pages in the background")
            except OSError as error:
                self._say(f"Training cannot start: {error}")

    def _start_process(self, annotations: Sequence[Path]) -> None:
        """Learn from copies of the annotations, since the user may change them meanwhile."""
        folder = Path(tempfile.mkdtemp(prefix="victor-annotate-"))
        self._folders.append(folder)
        (folder / "data").mkdir()
        for number, path in enumerate(annotations):
            shutil.copyfile(path, folder / "data" / f"{number:05}.anno")
        source = str(Path(victorpy.__file__).parents[1])
        search_path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        model = str(self._start.directory) if self._start is not None else ""
        with (folder / "out").open("wb") as out, (folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "victorpy.annotation.learning", str(folder), CONFIG, model],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": search_path},
                start_new_session=True,
            )
        self._learned_from = len(annotations)

    def see(self) -> bool:
        """Check whether learning has ended. Return whether another model is in use now."""
        if self._process is None or self._process.poll() is None:
            return False
        has_failed = self._process.returncode != 0
        folder, self._process = self._folders[-1], None
        predictor = self._start
        try:
            if has_failed:
                lines = (folder / "errors").read_text(errors="replace").split("\n")
                raise VictorError(
                    next((line for line in reversed(lines) if line.strip()), "the process ended without a message")
                )
            learned = Learned(**json.loads((folder / "out").read_bytes()))
            if learned.is_better:
                predictor = Predictor.load(folder / "model", f"the model learned from {learned.pages:,} pages")
        except (VictorError, OSError, ValueError, TypeError) as error:
            self._say(f"Training failed: {visible(str(error))}")
            return False
        self._say(str(learned))
        is_new = predictor is not self.predictor
        self.predictor = predictor
        return is_new

    def stop(self) -> None:
        """Stop learning and delete its files."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


def learn(folder: Path, config_name: str, model: str) -> dict[str, float | int | None]:
    """Learn from the annotations in a folder, and compare the result with a model."""
    config = load_config(config_name)
    pages = load_pages([folder / "data"], config)
    held_out = pages[::3]
    others = [page for number, page in enumerate(pages) if number % 3]
    rivals = [Cleaner.load(model).labeller] if model else []
    rivals.append(train(others, config).labeller)
    documents, labels = [page.document for page in held_out], [page.labels for page in held_out]
    *before, after = (labeller.score(documents, labels) for labeller in rivals)
    train(pages, config).save(folder / "model")
    return {"pages": len(pages), "held_out": len(held_out), "before": before[0] if before else None, "after": after}


def main(arguments: Sequence[str]) -> int:
    """Learn in a process of its own, with low priority."""
    folder, config, model = arguments
    os.nice(10)
    try:
        print(json.dumps(learn(Path(folder), config, model)))
    except VictorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
