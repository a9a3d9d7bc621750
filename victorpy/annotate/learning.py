"""What the program does with learning in the background: when it begins, and which model is in use after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from victorpy.annotate.pages import Entry
from victorpy.annotate.predictor import Predictor
from victorpy.annotate.retrain import FEWEST, Learned, Trainer
from victorpy.annotate.show import visible
from victorpy.errors import VictorError


class Learning:
    """Learns from finished pages, and holds what it learned against the model that all began with."""

    def __init__(self, start: Predictor | None, say: Callable[[str], None]) -> None:
        self.predictor = start
        """The model in use."""
        self._start = start
        self._say = say
        self._trainer = Trainer(str(start.directory) if start is not None else "")

    def begin(self, entries: Sequence[Entry], asked: bool) -> None:
        """Learn from what is finished, if there is enough of it; who asked for it is told why not."""
        finished = [entry.anno for entry in entries if entry.is_finished and entry.anno.exists()]
        if self._trainer.wants(len(finished)):
            try:
                self._trainer.start(finished)
                self._say(f"Learning from {len(finished):,} finished pages, in the background")
            except OSError as error:
                self._say(f"Nothing can be learned: {error}")
        elif len(finished) < FEWEST:
            self._say(f"{len(finished)} of {FEWEST} pages finished: from {FEWEST} on there is enough to learn from")
        elif asked:
            self._say("It is learning already" if self._trainer.is_busy else "Nothing new is finished since")

    def see(self) -> bool:
        """Look whether learning is over; the answer is whether another model is in use now."""
        came = self._trainer.poll()
        if came is None:
            return False
        if isinstance(came, str):
            self._say(f"Nothing was learned: {visible(came)}")
            return False
        before = self.predictor
        try:
            self.predictor = self._better(came)
        except VictorError as error:
            self._say(f"Nothing was learned: {visible(str(error))}")
            return False
        self._say(str(came))
        return self.predictor is not before

    def _better(self, learned: Learned) -> Predictor | None:
        """The model that is worth more by what is known now: the new one, or that which all began with."""
        if not learned.is_better:
            return self._start
        return Predictor.load(learned.model, f"the model learned from {learned.pages:,} pages")

    def stop(self) -> None:
        """Give up what is under way."""
        self._trainer.stop()
