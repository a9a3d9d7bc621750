"""Fuzz the native core under ASAN and UBSAN, guided by coverage, and compare it with its Python twin.

    python tests/native/fuzz.py --seconds 600        (make fuzz-native)

Compiles a copy of the core with GCC's sanitizers and coverage, then mutates sample pages and pieces of broken markup.
A page that reaches new code is mutated again. Pages that crash the core, or that the twins split or count differently,
are written to the directory of findings. Exit codes: 0 none found, 1 some found, 2 the tools are missing.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FLAGS = [
    *(
        "-O1",
        "-g",
        "-Wno-unused-function",
        "-std=c++17",
        "-fno-omit-frame-pointer",
        "-funsigned-char",
        "-ffp-contract=off",
    ),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fsanitize-coverage=trace-pc"),
]
EDGES = 1 << 16
COVERAGE = """
#include <stdint.h>
unsigned char reached[%d];
static __thread uintptr_t previous;
void __sanitizer_cov_trace_pc(void) {
    uintptr_t here = (uintptr_t) __builtin_return_address(0);
    unsigned char *count = &reached[(here ^ previous) %% sizeof reached];
    if (*count < 255) ++*count;
    previous = here >> 1;
}
"""
MOST_FINDINGS = 10
LONGEST = 4_000
ODD = [None, None, 0, 9, 10, 32, 60, 62, 0x85, 0xA0, 0x130, 0x3A3, 0x10FFFF]
WHOLE_EVERY = 20
"""One page in `WHOLE_EVERY` is also cleaned by the bundled model, with and without the core."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120, help="duration (default: 120)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="directory for pages that fail")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return Fuzzer(arguments.child, arguments.seed).run(arguments.seconds)
    with tempfile.TemporaryDirectory() as directory:
        return supervise(Path(directory), arguments)


def supervise(work: Path, arguments: argparse.Namespace) -> int:
    """Run the fuzzer in a process of its own, and start it again after a crash, until the time is over."""
    preloaded = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        preloaded.append(found.stdout.strip())
        if not Path(preloaded[-1]).is_absolute():
            print(f"fuzz: GCC with {name} is needed", file=sys.stderr)
            return 2
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.cpp", "__pycache__")
    for name in ("victorpy", "configs", "templates", "data", "tests/native", "tests/support"):
        shutil.copytree(TOP / name, work / name, ignore=ignored)
    shutil.copy(TOP / "hatch_build.py", work)
    (work / "coverage.c").write_text(COVERAGE % EDGES)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "coverage.c", "-o", "coverage.so"], cwd=work, check=True)
    print("fuzz: compiling", flush=True)
    code = f"import hatch_build; hatch_build.build({FLAGS}, ['-fsanitize=address,undefined'])"
    subprocess.run([sys.executable, "-c", code], cwd=work, check=True, env={**os.environ, "PYTHONPATH": str(work)})
    environment = {
        **os.environ,
        "PYTHONPATH": f"{work}{os.pathsep}{work / 'tests'}",
        "LD_PRELOAD": " ".join([*preloaded, str(work / "coverage.so")]),
        "PYTHONMALLOC": "malloc",  # so that ASAN sees every buffer
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    environment.pop("VICTOR_ENGINE", None)
    end = time.monotonic() + arguments.seconds
    findings, totals, seed = 0, {"pages": 0, "bytes": 0}, arguments.seed
    while (left := end - time.monotonic()) > 0 and findings < MOST_FINDINGS:
        options = ["--child", work, "--seconds", str(left), "--seed", str(seed)]
        ended = subprocess.run(
            [sys.executable, work / "tests" / "native" / "fuzz.py", *options],
            cwd=work, env=environment, check=False, stderr=subprocess.PIPE,
        )  # fmt: skip
        state = json.loads((work / "state.json").read_text()) if (work / "state.json").exists() else {}
        totals = {name: count + state.get(name, 0) for name, count in totals.items()} | {
            "corpus": state.get("corpus", 0),
            "edges": state.get("edges", 0),
            "memory_growth_mb": state.get("memory_growth_mb", 0),
        }
        if ended.returncode:
            if not (work / "current.html").exists():  # it did not even start
                sys.stderr.buffer.write(ended.stderr)
                return 2
            findings += 1
            arguments.findings.mkdir(exist_ok=True)
            shutil.copy(work / "current.html", arguments.findings / f"{seed}.html")
            (arguments.findings / f"{seed}.txt").write_bytes(ended.stderr)
            print(f"fuzz: finding in {arguments.findings / f'{seed}.html'}", flush=True)
            sys.stderr.buffer.write(ended.stderr[-2_000:])
        seed += 1
    print(json.dumps(totals | {"seconds": arguments.seconds, "findings": findings}))
    return 1 if findings else 0


class Fuzzer:
    """Mutates pages and compares the twins. Any exception ends the process."""

    def __init__(self, work: Path, seed: int) -> None:
        from support.htmlpages import SOUP
        from test_twins import HOSTILE

        self._work = work
        self._random = random.Random(seed)
        self._soup = [*SOUP, "<p>x</p>" * 300, "<div>" * 300, "İ", "ǅ", "ß", "ﬁ", "。", "\ud800", "𝔗", "<td>" * 100]
        pages = [path.read_text(encoding="utf-8", errors="replace") for path in sorted((work / "data").rglob("*.html"))]
        self._corpus = [*HOSTILE.values(), *(page[:LONGEST] for page in pages)]
        self._reached = (ctypes.c_ubyte * EDGES).in_dll(ctypes.CDLL(str(work / "coverage.so")), "reached")
        self._seen = bytearray(EDGES)

    def run(self, seconds: float) -> int:
        from test_twins import CONFIGS, assert_twins

        from victorpy import Cleaner, native

        assert native.engine() == "native", native.why_not()
        cleaner = Cleaner.load()
        end = time.monotonic() + seconds
        queue = list(self._corpus)
        count = size = 0
        memory = None
        while time.monotonic() < end:
            page = queue.pop() if queue else self._mutated()
            data = page.encode("utf-8", "surrogatepass")
            (self._work / "current.html").write_bytes(data)
            ctypes.memset(self._reached, 0, EDGES)
            config = self._random.choice(sorted(CONFIGS))
            assert_twins(data, config)
            if count % WHOLE_EVERY == 0:
                self._compare_texts(cleaner, data)
            if self._is_new():
                self._corpus.append(page)
            count, size = count + 1, size + len(data)
            if count == 2_000:
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if count % 50 == 0:
                grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory if memory else 0
                state = {"pages": count, "bytes": size, "corpus": len(self._corpus)}
                state |= {"edges": sum(map(bool, self._seen)), "memory_growth_mb": grown // 1024}
                (self._work / "state.json").write_text(json.dumps(state))
        return 0

    def _compare_texts(self, cleaner, data: bytes) -> None:
        import pytest
        from test_twins import without_core

        by_core = cleaner.clean(data)
        with pytest.MonkeyPatch.context() as patch:
            without_core(patch)
            assert by_core == cleaner.clean(data)

    def _is_new(self) -> bool:
        """Whether the last page reached an edge more often than any before, in powers of two."""
        reached, is_new = bytes(self._reached), False
        for edge in re.finditer(rb"[^\0]", reached):
            bit = 1 << (edge[0][0].bit_length() - 1)
            if not self._seen[edge.start()] & bit:
                self._seen[edge.start()] |= bit
                is_new = True
        return is_new

    def _mutated(self) -> str:
        pick = self._random
        page = pick.choice(self._corpus)
        for _ in range(pick.randint(1, 6)):
            parts = re.split(r"(?=<)|(?<=>)", page)
            at, stop = sorted(pick.choices(range(len(parts) + 1), k=2))
            kind = pick.randrange(6)
            if kind == 0:
                parts[at:at] = pick.choices(self._soup, k=pick.randint(1, 5))
            elif kind == 1:
                del parts[at : min(stop, at + 20)]
            elif kind == 2:
                parts[at:at] = parts[at : at + pick.randint(1, 20)] * pick.choice([1, 1, 3, 50])
            elif kind == 3:
                other = re.split(r"(?=<)|(?<=>)", pick.choice(self._corpus))
                start = pick.randrange(len(other))
                parts[at:at] = other[start : start + pick.randint(1, 40)]
            elif kind == 4:
                parts[at : at + 10] = pick.sample(parts[at : at + 10], len(parts[at : at + 10]))
            else:
                place, character = pick.randrange(len(page) + 1), chr(pick.choice(ODD) or pick.randrange(0xD7FF))
                parts = [page[:place], character, page[place + pick.randrange(3) :]]
            page = "".join(parts)[:LONGEST]
        return page


if __name__ == "__main__":
    sys.exit(main())
