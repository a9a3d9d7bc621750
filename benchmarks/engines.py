"""Count the labels that the native core changes: clean pages with and without the core, and compare.

    python -m benchmarks.engines                                   the sample pages in data/
    python -m benchmarks.engines --data wcxb:DIR --model cleaneval

The second run is a process with VICTOR_ENGINE=python. Ends with exit code 1 if labels or texts are different.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from victorpy import Cleaner, native
from victorpy.errors import VictorError


def main() -> None:
    """Print the labels of every page, or compare them with those of the Python engine."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default", help="a model by name or path (default: default)")
    parser.add_argument(
        "--print", action="store_true", help="print one line per page: its labels and a digest of its text"
    )
    arguments = parser.parse_args()
    if not arguments.print and native.engine() != "native":
        sys.exit("the native core is not built, so there is nothing to compare; run: python hatch_build.py")
    environment = os.environ | {"VICTOR_ENGINE": "python"}
    command = [sys.executable, "-m", "benchmarks.engines", "--print", *sys.argv[1:]]
    twin = None if arguments.print else subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    cleaner = Cleaner.load(arguments.model)
    pages = labels = different_pages = different_labels = 0
    for _, gold in read_pages(arguments.data, arguments.step):
        try:
            cleaned = cleaner.document(gold.html)
            digest = hashlib.sha256(cleaned.to("text").encode()).hexdigest()
            line = " ".join([digest, *(label[0] for label in cleaned.labels)])
        except VictorError as error:
            line = type(error).__name__
        if twin is None or twin.stdout is None:
            print(line)
            continue
        ours, theirs = line.split(), twin.stdout.readline().split()
        pages, labels = pages + 1, labels + len(ours) - 1
        different_pages += ours != theirs
        different_labels += sum(a != b for a, b in zip(ours[1:], theirs[1:], strict=False))
    if twin is None:
        return
    if twin.wait():
        sys.exit("the run with the Python engine failed")
    print(f"{pages:,} pages, {labels:,} labels, model {arguments.model}")
    print(f"different with the native core: {different_pages:,} pages, {different_labels:,} labels")
    sys.exit(1 if different_pages else 0)


if __name__ == "__main__":
    run(main)
