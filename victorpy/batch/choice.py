"""Which method or model cleans, as plain values, so that every worker can load it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError
from victorpy.labellers.base import LearnsFrom
from victorpy.methods import MODELS, load_method
from victorpy.model.store import DEFAULT, find_model


@dataclass(frozen=True, slots=True)
class Choice:
    """A method with its parameters, or a model, perhaps by its config."""

    method: str | None = None
    parameters: tuple[str, ...] = ()
    model: str | None = None
    config: str | None = None
    favor: str | None = None

    def load(self) -> Cleaner:
        method = self.method
        if method and (self.model or self.config):
            raise ConfigError("--method is another way to clean than a model: give it without --model and --config")
        if self.parameters and not method:
            raise ConfigError(f"--param {self.parameters[0]}: parameters are of a --method; a model has its config")
        cleaner = load_method(method, self.parameters) if method else _cleaner(self.model, self.config)
        if self.favor and cleaner.labeller.learns_from is not LearnsFrom.LABELS:
            raise ConfigError(f"--favor: the method {method} has no probabilities to move the cut by")
        return cleaner.favoring(self.favor) if self.favor else cleaner

    def identity(self) -> dict[str, Any]:
        """Return the settings that identify this choice: a model's digest rather than its name."""
        name = MODELS.get(self.method, None) if self.method else self.model or self.config or DEFAULT
        if name is None:
            return {"favor": self.favor, "method": self.method, "parameters": list(self.parameters)}
        wanted = load_config(self.config).name if self.config and not self.model else name
        digest: str = json.loads((find_model(wanted) / "meta.json").read_bytes())["digest"]
        return {"favor": self.favor, "model": digest}


def _cleaner(model: str | None, config: str | None) -> Cleaner:
    """Load a model; a config alone names the model that was trained with it."""
    if config is None:
        return Cleaner.load(model or DEFAULT)
    wanted = load_config(config)
    cleaner = Cleaner.load(model or wanted.name)
    differing = cleaner.config.differences(wanted)
    if differing:
        differing = differing[:3] + ([f"{len(differing) - 3} more"] if len(differing) > 3 else [])
        raise ConfigError(
            f"the model {model or wanted.name!r} was trained with another {', '.join(differing)} than {config!r} has; "
            f"train one with: learn.py --config {config} FILES.anno"
        )
    return cleaner.with_config(wanted)
