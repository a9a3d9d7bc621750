"""A registry of features, formats, methods and other named objects."""

from __future__ import annotations

import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from victorpy.errors import VictorError, suggest

Thing = TypeVar("Thing")


class Registry(Generic[Thing]):
    """Maps names to objects of one kind. They register themselves when the modules in `homes` are imported.

    Looking up a name imports only modules whose source contains the quoted name. If there is no such module, all
    modules are imported, since a module may build names from parts. Listing all names also imports all modules.
    """

    def __init__(self, kind: str, *homes: str) -> None:
        self.kind = kind
        self._homes = homes
        self._things: dict[str, Thing] = {}
        self._discovered = False

    def add(self, name: str, thing: Thing) -> None:
        """Register a thing. Raises if the name is taken."""
        if name in self._things:
            raise VictorError(f"{self.kind} {name!r} is registered twice")
        self._things[name] = thing

    def remove(self, name: str) -> None:
        del self._things[name]

    def register(self, name: str) -> Callable[[Thing], Thing]:
        """Decorate a function or class to register it under a name."""

        def decorate(thing: Thing) -> Thing:
            self.add(name, thing)
            return thing

        return decorate

    def get(self, name: str) -> Thing:
        """Return the thing with this name. Raises an error that lists all names."""
        if name not in self:
            names = ", ".join(sorted(self._things))
            raise VictorError(f"no {self.kind} {name!r}{suggest(name, self._things)}; choose from {names}")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        for text in (f'("{name}"', f'"{name}"', ""):  # modules that register the name, mention it, then all
            if name in self._things or self._discovered:
                break
            self._import_with(text)
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._import_with("")
        return iter(sorted(self._things))

    def _import_with(self, text: str) -> None:
        """Import the modules whose source contains this text, so that they register their objects."""
        for home in () if self._discovered else self._homes:
            package = importlib.util.find_spec(home)
            places = (package and package.submodule_search_locations) or ()
            for module in [home, *(f"{home}.{found.name}" for found in pkgutil.iter_modules(places))]:
                spec = None if module in sys.modules else importlib.util.find_spec(module)
                read_source = getattr(spec and spec.loader, "get_source", None)
                if spec and text in ((read_source and read_source(module)) or ""):
                    importlib.import_module(module)
        self._discovered = self._discovered or not text
