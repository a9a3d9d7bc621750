"""Measure the CPU time from the start of Python to the first cleaned page: interpreter, imports, model, page, command.

    python -m benchmarks.startup [--repeat 10]

Each step runs in fresh processes. The table has the mean of user and system time, and what a step adds to the previous
one. A run before those that count writes the bytecode of all modules, which an installed package has from the start.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import ROOT
from benchmarks.lib.tables import table

PAGE = (
    "<title>Tea</title><ul><li><a href='/'>Home</a></ul><p>Tea is made by pouring hot water over the cured leaves of "
    "the tea bush, and it is drunk all over the world.</p>"
)
STEPS = {
    "Python": ["-c", "pass"],
    "numpy and lxml": ["-c", "import numpy, lxml.etree"],
    "import of Cleaner": ["-c", "from victorpy import Cleaner"],
    "model": ["-c", "from victorpy import Cleaner; Cleaner.load()"],
    "first page": ["-c", "import sys, victorpy; victorpy.clean(open(sys.argv[1]).read())", "page.html"],
    "victor clean": ["-m", "victorpy", "clean", "page.html"],
}


def main() -> None:
    """Measure each step and print a table."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--repeat", type=int, default=10, metavar="N", help="runs of each step (default: 10)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "page.html").write_text(PAGE)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(directory, "bytecode"))}
        rows = []
        previous = 0.0
        for name, command in STEPS.items():
            seconds = cpu_seconds([sys.executable, *command], directory, environment, arguments.repeat)
            rows.append([name, f"{seconds:.3f}", f"{seconds - previous:+.3f}"])
            previous = seconds
    print(table(["until", "CPU s", "more"], rows))


def cpu_seconds(command: list[str], directory: str, environment: dict[str, str], repeat: int) -> float:
    """Return the mean CPU time of a command; the first run, which writes bytecode, does not count."""
    subprocess.run(command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(repeat):
        subprocess.run(command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / repeat


if __name__ == "__main__":
    run(main)
