"""One small registry: things are registered by a decorator where they are written, and found by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from victorpy.errors import VictorError, suggest

Thing = TypeVar("Thing")


class Registry(Generic[Thing]):
    """Named things of one kind, registered by the given modules and packages, which are imported on first use."""

    def __init__(self, kind: str, *homes: str) -> None:
        self.kind = kind
        self._homes = homes
        self._things: dict[str, Thing] = {}
        self._discovered = False

    def add(self, name: str, thing: Thing) -> None:
        """Register a thing; a name can be taken once."""
        if name in self._things:
            raise VictorError(f"{self.kind} {name!r} is registered twice")
        self._things[name] = thing

    def remove(self, name: str) -> None:
        """Forget a thing."""
        del self._things[name]

    def register(self, name: str) -> Callable[[Thing], Thing]:
        """Decorate a function or class to register it under a name."""

        def decorate(thing: Thing) -> Thing:
            self.add(name, thing)
            return thing

        return decorate

    def get(self, name: str) -> Thing:
        """Find a thing by name, or say which names there are."""
        self._discover()
        try:
            return self._things[name]
        except KeyError:
            names = ", ".join(sorted(self._things))
            raise VictorError(f"no {self.kind} {name!r}{suggest(name, self._things)}; there are: {names}") from None

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._things))

    def _discover(self) -> None:
        """Import every module that may register something, so that its decorators have run."""
        if self._discovered:
            return
        self._discovered = True
        for home in self._homes:
            package = importlib.import_module(home)
            for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
                importlib.import_module(f"{home}.{module.name}")
