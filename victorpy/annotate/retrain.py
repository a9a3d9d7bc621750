"""Learning from what is finished, in the background: a process of its own, which this module is too.

``python -m victorpy.annotate.retrain FOLDER CONFIG MODEL`` learns from the annotations in ``FOLDER/data``, once without
every third page, to see on those whether what it learned is better than the model that the program was started with,
and then from all of them. The model goes to ``FOLDER/model``, and what was found is said in a line of JSON.

What is learned is never held against an earlier model of this kind: that one has learned from the held-out pages too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import victorpy
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.document import CleanPage
from victorpy.errors import VictorError
from victorpy.labellers.base import Labeller
from victorpy.train import load_pages, train

FEWEST = 3
"""From fewer pages nothing is learned: there would be none to see the gain on."""
CONFIG = "crf"
"""It learns in seconds; the default one takes an hour."""


@dataclass(frozen=True)
class Learned:
    """What came of learning."""

    pages: int
    held_out: int
    """How many of the pages it was measured on, without having learned from them."""
    before: float | None
    """Which share of labels the model at the start has right on the pages held out; None where there is none."""
    after: float
    model: Path

    @property
    def is_better(self) -> bool:
        """Whether the new model is worth taking."""
        return self.before is None or self.after > self.before

    def __str__(self) -> str:
        held_out = "1 page" if self.held_out == 1 else f"{self.held_out:,} pages"
        shares = f"{self.after:.0%} of labels right on {held_out} held out"
        before = "" if self.before is None else f", {self.before:.0%} by the model at the start"
        taken = "" if self.is_better else ", which is used"
        return f"Learned from {self.pages:,} pages: {shares}{before}{taken}"


class Trainer:
    """Starts learning, and says when it is over."""

    def __init__(self, model: str = "", config: str = CONFIG) -> None:
        self.model = model
        """The model that all began with, by name or path; nothing where there is none."""
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._folders: list[Path] = []
        self._learned_from = 0

    @property
    def is_busy(self) -> bool:
        """Whether it is learning."""
        return self._process is not None

    def wants(self, finished: int) -> bool:
        """Whether there is enough new to learn from."""
        return not self.is_busy and finished >= FEWEST and finished > self._learned_from

    def start(self, annotations: Sequence[Path]) -> None:
        """Begin to learn from finished annotations, which may go on changing."""
        folder = Path(tempfile.mkdtemp(prefix="victor-annotate-"))
        self._folders.append(folder)
        (folder / "data").mkdir()
        for number, path in enumerate(annotations):
            shutil.copyfile(path, folder / "data" / f"{number:05}.anno")
        source = str(Path(victorpy.__file__).parents[1])
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, "-m", "victorpy.annotate.retrain", str(folder), self._config, self.model]
        with (folder / "out").open("wb") as out, (folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment, start_new_session=True
            )
        self._folder = folder
        self._learned_from = len(annotations)

    def poll(self) -> Learned | str | None:
        """What came of it, once it is over; a text says why nothing did."""
        if self._process is None or self._folder is None or self._process.poll() is None:
            return None
        failed = self._process.returncode != 0
        self._process = None
        try:
            if failed:
                lines = (self._folder / "errors").read_text(errors="replace").split("\n")
                return next((line for line in reversed(lines) if line.strip()), "it ended without a word")
            return Learned(**json.loads((self._folder / "out").read_bytes()), model=self._folder / "model")
        except (OSError, ValueError, TypeError) as error:
            return str(error)

    def stop(self) -> None:
        """Give up what is under way, and leave nothing behind."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


def learn(folder: Path, config_name: str, model: str) -> dict[str, float | int | None]:
    """Learn, and see what it is worth."""
    config = load_config(config_name)
    pages = load_pages([folder / "data"], config)
    held_out = pages[::3]
    others = [page for number, page in enumerate(pages) if number % 3]
    after = _accuracy(train(others, config).labeller, held_out)
    before = _accuracy(Cleaner.load(model).labeller, held_out) if model else None
    train(pages, config).save(folder / "model")
    return {"pages": len(pages), "held_out": len(held_out), "before": before, "after": after}


def _accuracy(labeller: Labeller, pages: Sequence[CleanPage]) -> float:
    return labeller.score([page.document for page in pages], [page.labels for page in pages])


def main(arguments: Sequence[str]) -> int:
    """Learn in a process of one's own, out of the way of others."""
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
