"""Install the wheel and the sdist of dist/ into empty environments, and try them there (``make wheel``).

    python -m tools.try_wheel dist

The sdist is installed without a compiler, so it must work in Python alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "data" / "service" / "service-plumber.html"
FIRST_LINE = "Boiler repairs and heating in Marlingford Wick"
MODULES = sorted(path.stem for path in (Path(__file__).parents[1] / "victorpy" / "native").glob("*.pyx"))
HINT = "native core"


def main() -> int:
    """Return 0 if everything works."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "dist", type=Path, nargs="?", default=Path("dist"), help="directory with the wheel and the sdist"
    )
    parser.add_argument("--installed", action="store_true", help="only try the package that this Python has installed")
    arguments = parser.parse_args()
    if arguments.installed:
        try_victor(Path(sys.executable).parent, "native")
        return 0
    (wheel,) = arguments.dist.glob("*.whl")
    (sdist,) = arguments.dist.glob("*.tar.gz")
    if problems := wrong_files(zipfile.ZipFile(wheel).namelist()):
        print("\n".join(f"{wheel}: {problem}" for problem in problems), file=sys.stderr)
        return 1
    no_compiler = dict.fromkeys(("CC", "CXX", "LDSHARED", "LDCXXSHARED"), "/nonexistent/compiler")
    for package, engine, variables in ((wheel, "native", {}), (sdist, "python", no_compiler)):
        with tempfile.TemporaryDirectory() as directory:
            venv.create(directory, with_pip=True)
            programs = Path(directory, "Scripts" if os.name == "nt" else "bin")
            command = [programs / "python", "-m", "pip", "install", "--quiet", package.resolve()]
            subprocess.run(command, check=True, cwd=directory, env={**clean_environment(), **variables})
            try_victor(programs, engine)
        print(f"{package.name}: installed and cleaned a page with the {engine} engine")
    return 0


def wrong_files(names: list[str]) -> list[str]:
    """Return what a wheel lacks or should not contain, given the names of its files.

    >>> wrong_files(["victorpy/native/split.pyx"])[:2]
    ['has victorpy/native/split.pyx', 'lacks victorpy/py.typed']
    """
    wanted = [
        "victorpy/py.typed",
        "victorpy/data/configs/default.conf",
        "victorpy/data/models/default/trees.npy",
        "victorpy/data/templates/evidence.tpl",
        *(f"victorpy/native/{module}." for module in MODULES),
    ]
    needless = (".pyx", ".pxd", ".cpp", "hatch_build.py")
    return [f"has {name}" for name in names if name.endswith(needless)] + [
        f"lacks {start}" for start in wanted if not any(name.startswith(start) for name in names)
    ]


def try_victor(programs: Path, engine: str) -> None:
    """Run `victor` twice in an empty home directory. Raises RuntimeError if it prints something unexpected."""
    with tempfile.TemporaryDirectory() as home:
        page = Path(shutil.copy(PAGE, home))
        homes = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"), home)

        def victor(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [programs / "victor", *arguments],
                check=True, capture_output=True, text=True, encoding="utf-8", cwd=home,
                env={**clean_environment(), **homes},
            )  # fmt: skip

        version, first, second = victor("--version"), victor("clean", page), victor("clean", page)
        expected = {
            "victor --version": f"{engine} engine" in version.stdout,
            "victor clean": first.stdout.startswith(FIRST_LINE),
            "the hint": (HINT in first.stderr) == (engine == "python") and HINT not in second.stderr,
        }
        for what, is_right in expected.items():
            if not is_right:
                raise RuntimeError(f"{what} is wrong with the {engine} engine: {version}\n{first}\n{second}")


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables that make Python or victorpy look elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VICTOR_"))}


if __name__ == "__main__":
    sys.exit(main())
