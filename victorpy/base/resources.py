"""Find the configs, templates and models that victorpy ships."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def shipped(kind: str) -> Path:
    """Return a directory of shipped files: inside the installed package, or beside the package in a checkout."""
    inside = _PACKAGE / "data" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def find(name: str, kind: str, suffix: str, beside: Path | None = None) -> Path | None:
    """Find a file in the directory `beside`, by path, or by name among the shipped files."""
    places = [Path(name)]
    if beside is not None:
        places = [beside / name, beside / f"{name}{suffix}", *places]
    places.append(shipped(kind) / f"{name}{suffix}")
    return next((place for place in places if place.is_file()), None)


def names(kind: str, suffix: str) -> list[str]:
    """Return the names of the shipped files of a kind."""
    return sorted(path.name.removesuffix(suffix) for path in shipped(kind).glob(f"*{suffix}"))
