"""Fuzz victorpy: mutate seeds, guided by coverage, and check the invariants in targets.py.

    python tests/fuzz/run.py --seconds 600 [--target NAME]...     (make fuzz)
    python tests/fuzz/run.py --sanitize --seconds 600             (make fuzz-native)
    python tests/fuzz/run.py --target NAME FILE...                checks these inputs only

Each target runs in a child process with a limit of time and memory per input. With atheris, inputs that reach new
Python code are mutated again; without atheris, mutations are blind. With --sanitize, a copy of the native core is
compiled with GCC's address and undefined behaviour sanitizers and its own coverage. Finally two processes with other
hash seeds check the collected inputs again and must return the same text.

Inputs that fail are written to the directory of findings. Exit codes: 0 none found, 1 some found, 2 tools are missing.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SECONDS_PER_INPUT = 60
MOST_MEMORY = 2_000_000_000
MOST_FINDINGS = 10  # a target with this many findings is stopped
MOST_REPLAYED = 300
MOST_RUNS = {"model": 500}  # inputs per process: atheris, unlike Python alone, never frees the files of models
NATIVE_TARGETS = ["splitting", "cleaning"]
SPLIT = re.compile(rb"(?=[<{])|(?<=[>}\n])")
COUNT = re.compile(rb"stat::number_of_executed_units: (\d+)")

SANITIZERS = "-fsanitize=address,undefined"
FLAGS = ["-O1", "-g", "-Wno-unused-function", "-std=c++17", "-fno-omit-frame-pointer", "-funsigned-char"]
FLAGS += ["-ffp-contract=off", SANITIZERS, "-fno-sanitize-recover=all", "-fsanitize-coverage=trace-pc"]
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


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="check these inputs instead of fuzzing")
    parser.add_argument("--seconds", type=float, default=60, help="duration of all targets together (default: 60)")
    parser.add_argument("--target", action="append", default=[], help="only this target; may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: another one in each run)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="directory of inputs that fail")
    parser.add_argument("--corpus", type=Path, help="directory where interesting inputs are kept between runs")
    parser.add_argument("--sanitize", action="store_true", help="fuzz the native core under ASAN and UBSAN")
    parser.add_argument("--blind", action="store_true", help="mutate without coverage, as if atheris were missing")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--replay", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sys.path[:0] = [str(TOP), str(TOP / "tests")]
    if arguments.child:
        return run_child(arguments)
    arguments.findings = arguments.findings.absolute()
    arguments.seed = arguments.seed or random.randrange(1, 1 << 30)
    with tempfile.TemporaryDirectory() as work:
        return supervise(Path(work), arguments)


# The parent: starts one child after another.


def supervise(work: Path, arguments: argparse.Namespace) -> int:
    if not (arguments.sanitize or arguments.files or arguments.blind or find_spec("atheris")):
        print("fuzz: atheris is not installed, so mutations are blind; to install it: pip install atheris")
        arguments.blind = True
    environment, top = dict(os.environ), TOP
    if arguments.sanitize:
        top = work / "copy"
        environment = sanitized(top)
    names = arguments.target or (NATIVE_TARGETS if arguments.sanitize else target_names())
    failed = 0
    for name in names:
        corpus = (arguments.corpus or work / "corpus") / name
        corpus.mkdir(parents=True, exist_ok=True)
        child = Child(name, top, environment, work / name, arguments)
        if not arguments.files:
            child.fuzz(corpus, arguments.seconds / len(names))
        if not child.findings:
            child.replay(arguments.files or sorted(corpus.iterdir())[:MOST_REPLAYED])
        size = len(list(corpus.iterdir()))
        print(f"{name}: {child.inputs:,} inputs, {size:,} kept, {child.findings} findings", flush=True)
        failed += child.findings
    return 1 if failed else 0


def target_names() -> list[str]:
    from fuzz.targets import TARGETS

    return list(TARGETS)


class Child:
    """Runs one target in processes of its own."""

    def __init__(
        self, target: str, top: Path, environment: dict[str, str], work: Path, arguments: argparse.Namespace
    ) -> None:
        self.target, self.arguments = target, arguments
        self.inputs = self.findings = 0
        self._found, self._empty = work / "found", work / "empty"
        self._found.mkdir(parents=True)
        program = top / "tests" / "fuzz" / "run.py" if arguments.sanitize else Path(sys.argv[0]).absolute()
        self._program = [sys.executable, str(program), "--child", "--target", target, "--findings", str(self._found)]
        self._environment = {**environment, "PYTHONPATH": str(top)}

    def fuzz(self, corpus: Path, seconds: float) -> None:
        """Start the fuzzer again after each finding, until the time is over."""
        end, seed = time.monotonic() + seconds, self.arguments.seed
        while (left := end - time.monotonic()) > 1 and self.findings < MOST_FINDINGS:
            options = ["--corpus", corpus.absolute(), "--seconds", left, "--seed", seed]
            options += ["--sanitize"] * self.arguments.sanitize + ["--blind"] * self.arguments.blind
            ended = self._run(*options)
            self.inputs += sum(map(int, COUNT.findall(ended.stderr)))
            seed += 1

    def replay(self, inputs: Sequence[Path]) -> None:
        """Check inputs in two processes with other hash seeds, in opposite order."""
        paths = [str(path.absolute()) for path in inputs]
        digests = []
        for hash_seed, ordered in ((1, paths), (2, paths[::-1])):
            self._environment["PYTHONHASHSEED"] = str(hash_seed)
            ended = self._run("--replay", *ordered)
            digests.append(dict.fromkeys(paths) if ended.returncode else json.loads(ended.stdout))
        self.inputs += 2 * len(inputs)
        for path in paths:
            if None not in (digests[0][path], digests[1][path]) and digests[0][path] != digests[1][path]:
                self._report(Path(path).read_bytes(), b"the result depends on the hash seed or on earlier inputs")

    def _run(self, *options: object) -> subprocess.CompletedProcess[bytes]:
        """Run a child in an empty directory, so that names in messages are the same everywhere."""
        shutil.rmtree(self._empty, ignore_errors=True)
        self._empty.mkdir()
        command = [*self._program, *map(str, options)]
        ended = subprocess.run(command, env=self._environment, cwd=self._empty, check=False, capture_output=True)
        found = list(self._found.iterdir())
        if ended.returncode and not found:  # it did not even start
            shown = (ended.stdout + ended.stderr).decode(errors="replace")[-5_000:]
            sys.exit(f"fuzz: {self.target} ended with code {ended.returncode} without an input:\n{shown}")
        for path in found:
            self._report(path.read_bytes(), ended.stdout + ended.stderr or f"exit code {ended.returncode}".encode())
            path.unlink()
        return ended

    def _report(self, data: bytes, reason: bytes) -> None:
        self.findings += 1
        self.arguments.findings.mkdir(parents=True, exist_ok=True)
        path = self.arguments.findings / f"{self.target}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        path.with_name(f"{path.name}.txt").write_bytes(reason)
        shown = reason.partition(b"Uncaught Python exception")[2][:2_000] or reason[-2_000:]
        print(f"fuzz: finding in {path}\n{shown.decode(errors='replace')}", flush=True)


def sanitized(top: Path) -> dict[str, str]:
    """Compile a copy of the core with sanitizers and coverage, and return the environment that it needs."""
    preloaded = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        preloaded.append(found.stdout.strip())
        if not Path(preloaded[-1]).is_absolute():
            print(f"fuzz: GCC with {name} is needed", file=sys.stderr)
            sys.exit(2)
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.cpp", "__pycache__")
    for name in ("victorpy", "configs", "templates", "data", "tests"):
        shutil.copytree(TOP / name, top / name, ignore=ignored)
    shutil.copy(TOP / "hatch_build.py", top)
    (top / "coverage.c").write_text(COVERAGE % EDGES)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "coverage.c", "-o", "coverage.so"], cwd=top, check=True)
    print("fuzz: compiling", flush=True)
    code = f"import hatch_build; hatch_build.build({FLAGS}, ['{SANITIZERS}'])"
    environment = {name: value for name, value in os.environ.items() if name != "VICTOR_ENGINE"}
    subprocess.run([sys.executable, "-c", code], cwd=top, check=True, env={**environment, "PYTHONPATH": str(top)})
    return environment | {
        "LD_PRELOAD": " ".join([*preloaded, str(top / "coverage.so")]),
        "PYTHONMALLOC": "malloc",  # so that ASAN sees every buffer
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


# The child: fuzzes or replays one target.


def run_child(arguments: argparse.Namespace) -> int:
    if arguments.replay:
        return replay(arguments)
    if arguments.sanitize or arguments.blind:
        return mutate_until(arguments)
    return fuzz_with_atheris(arguments)


def load_target(name: str) -> tuple[Callable[[bytes], str], list[bytes], list[bytes]]:
    """Return the check, the seeds and the words of a target."""
    from fuzz.targets import LONGEST, TARGETS

    from victorpy import VictorError

    check, seeds, words = TARGETS[name]

    def checked(data: bytes) -> str:
        try:
            return check(data)
        except VictorError as error:
            return f"{type(error).__name__}: {error}"

    return checked, [seed[:LONGEST] for seed in seeds()], list(words)


def replay(arguments: argparse.Namespace) -> int:
    """Print a digest of the result of each input."""
    check, _, _ = load_target(arguments.target[0])
    results = {str(path): guarded(check, path.read_bytes(), arguments.findings) for path in arguments.files}
    digests = {
        name: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in results.items()
    }
    print(json.dumps(digests))
    return 0


def guarded(check: Callable[[bytes], str], data: bytes, findings: Path) -> str:
    """Check an input. If that fails, ends the process or takes too long, the input is left among the findings."""
    current = findings / "current"
    current.write_bytes(data)
    signal.alarm(SECONDS_PER_INPUT)  # ends the process, even in C code
    result = check(data)
    signal.alarm(0)
    current.unlink()
    return result


def fuzz_with_atheris(arguments: argparse.Namespace) -> int:
    import atheris

    atheris.instrument_imports(include=["victorpy"]).__enter__()  # to the end: much is imported on request
    check, seeds, words = load_target(arguments.target[0])
    check(b"")  # loads models, which takes longer than any input

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        pick = random.Random(seed)
        return mutated(pick, data, seeds, words)[:longest] if pick.random() < 0.5 else atheris.Mutate(data, longest)

    def check_one(data: bytes) -> None:
        check(data)

    for seed in seeds:
        (arguments.corpus / hashlib.sha256(seed).hexdigest()).write_bytes(seed)
    options = {"max_total_time": int(arguments.seconds), "timeout": SECONDS_PER_INPUT, "seed": arguments.seed}
    options |= {"max_len": max(map(len, seeds)), "rss_limit_mb": MOST_MEMORY // 1_000_000, "print_final_stats": 1}
    options |= {"runs": MOST_RUNS.get(arguments.target[0], -1)}
    options |= {"report_slow_units": SECONDS_PER_INPUT}  # an input that takes less is no finding
    arguments_of_libfuzzer = [f"-{name}={value}" for name, value in options.items()]
    arguments_of_libfuzzer += [f"-artifact_prefix={arguments.findings}/", "-verbosity=0", str(arguments.corpus)]
    atheris.Setup(["fuzz", *arguments_of_libfuzzer], check_one, custom_mutator=mutate)
    atheris.Fuzz()  # ends the process
    return 0


def mutate_until(arguments: argparse.Namespace) -> int:
    """Mutate inputs without atheris, guided by the coverage of the sanitized core if there is one."""
    check, seeds, words = load_target(arguments.target[0])
    corpus = list(seeds)
    coverage = None
    if arguments.sanitize:
        from victorpy import native

        assert native.engine() == "native", native.why_not()
        coverage = Coverage()
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    pick = random.Random(arguments.seed)
    longest = max(map(len, seeds))
    queue, count = list(seeds), 0
    end = time.monotonic() + arguments.seconds
    try:
        while time.monotonic() < end:
            data = queue.pop() if queue else mutated(pick, pick.choice(corpus), corpus, words)[:longest]
            guarded(check, data, arguments.findings)
            if coverage and coverage.is_new():
                corpus.append(data)
            if coverage is None or corpus[-1] is data:
                (arguments.corpus / hashlib.sha256(data).hexdigest()).write_bytes(data)
            count += 1
    finally:
        print(f"stat::number_of_executed_units: {count}", file=sys.stderr)
    return 0


class Coverage:
    """The edges of the sanitized core that were reached."""

    def __init__(self) -> None:
        self._reached = (ctypes.c_ubyte * EDGES).in_dll(ctypes.CDLL(str(TOP / "coverage.so")), "reached")
        self._seen = bytearray(EDGES)

    def is_new(self) -> bool:
        """Whether an edge was reached more often than before, in powers of two, since the last call."""
        reached, is_new = bytes(self._reached), False
        for edge in re.finditer(rb"[^\0]", reached):
            bit = 1 << (edge[0][0].bit_length() - 1)
            if not self._seen[edge.start()] & bit:
                self._seen[edge.start()] |= bit
                is_new = True
        ctypes.memset(self._reached, 0, EDGES)
        return is_new


def mutated(pick: random.Random, data: bytes, corpus: list[bytes], words: list[bytes]) -> bytes:
    """Insert, delete, repeat, splice or shuffle pieces of markup or lines, or change a byte."""
    for _ in range(pick.randint(1, 6)):
        parts = SPLIT.split(data)
        at = pick.randrange(len(parts) + 1)
        kind = pick.randrange(6)
        if kind == 0:
            parts[at:at] = pick.choices(words, k=pick.randint(1, 5))
        elif kind == 1:
            del parts[at : at + pick.randint(1, 20)]
        elif kind == 2:
            parts[at:at] = parts[at : at + pick.randint(1, 20)] * pick.choice([1, 1, 3, 50])
        elif kind == 3:
            other = SPLIT.split(pick.choice(corpus))
            start = pick.randrange(len(other))
            parts[at:at] = other[start : start + pick.randint(1, 40)]
        elif kind == 4:
            parts[at : at + 10] = pick.sample(parts[at : at + 10], len(parts[at : at + 10]))
        else:
            place = pick.randrange(len(data) + 1)
            inserted = pick.choice([b"", pick.randbytes(1), pick.choice(words), chr(pick.randrange(0xD7FF)).encode()])
            parts = [data[:place], inserted, data[place + pick.randrange(3) :]]
        data = b"".join(parts)
    return data


if __name__ == "__main__":
    sys.exit(main())
