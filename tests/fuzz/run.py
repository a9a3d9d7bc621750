"""Fuzz victorpy: mutate seeds, guided by coverage, and check the invariants in targets.py.

    python tests/fuzz/run.py --seconds 600 [--target NAME]...     (make fuzz)
    python tests/fuzz/run.py --sanitize --seconds 600             (make fuzz-native)
    python tests/fuzz/run.py --target NAME FILE...                checks these inputs only

One process loads all targets, and each target runs in a fork of it with a limit of time and memory per input. With
atheris, inputs that reach new Python code are mutated again; without atheris, mutations are blind. With --sanitize, a
copy of the native core is compiled with GCC's address and undefined behaviour sanitizers and its own coverage. Finally
two processes with other hash seeds check the collected inputs again and must return the same text.

Inputs that fail are written to the directory of findings. The input that is being checked is there too, as
TARGET-current, so that no end of the fuzzer loses it. Exit codes: 0 none found, 1 some found, 2 tools are missing.
"""

from __future__ import annotations

import argparse
import contextlib
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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

Targets = Mapping[str, tuple[Callable[[bytes], str], Callable[[], Sequence[bytes]], Sequence[bytes]]]

TOP = Path(__file__).resolve().parents[2]
LONGEST = 2_000  # bytes of an input. Costs that grow with the size of a page have tests of their own.
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


def load_targets() -> Targets:
    from fuzz.targets import TARGETS

    return TARGETS


def main(load: Callable[[], Targets] = load_targets) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="check these inputs instead of fuzzing")
    parser.add_argument("--seconds", type=float, default=60, help="duration of all targets together (default: 60)")
    parser.add_argument("--target", action="append", default=[], help="only this target; may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: another one in each run)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="directory of inputs that fail")
    parser.add_argument("--corpus", type=Path, help="directory where interesting inputs are kept between runs")
    parser.add_argument("--sanitize", action="store_true", help="fuzz the native core under ASAN and UBSAN")
    parser.add_argument("--blind", action="store_true", help="mutate without coverage, as if atheris were missing")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--replay", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sys.path[:0] = [str(TOP), str(TOP / "tests")]
    if arguments.child:
        return run_targets(load, arguments)
    with tempfile.TemporaryDirectory() as work:
        return supervise(Path(work), arguments)


# The first process: starts one process that fuzzes and two that replay.


def supervise(work: Path, arguments: argparse.Namespace) -> int:
    options = [f"--child={work}", f"--findings={arguments.findings.absolute()}", f"--seconds={arguments.seconds}"]
    options += [f"--corpus={(arguments.corpus or work / 'corpus').absolute()}"]
    options += [f"--seed={arguments.seed or random.randrange(1, 1 << 30)}"]
    options += [f"--target={name}" for name in arguments.target]
    program, top, environment = Path(sys.argv[0]).absolute(), TOP, dict(os.environ)
    if not (arguments.sanitize or arguments.files or arguments.blind or find_spec("atheris")):
        print("fuzz: atheris is not installed, so mutations are blind; to install it: pip install atheris")
        arguments.blind = True
    if arguments.sanitize:
        top = work / "copy"
        environment = sanitized(top)
        program = top / "tests" / "fuzz" / "run.py"
    options += ["--sanitize"] * arguments.sanitize + ["--blind"] * arguments.blind
    paths = [str(path.absolute()) for path in arguments.files]

    def run(more: Sequence[str], **variables: str) -> None:
        command = [sys.executable, str(program), *options, *more]
        ended = subprocess.run(command, env=environment | {"PYTHONPATH": str(top)} | variables, check=False)
        if ended.returncode:
            sys.exit(f"fuzz: a process ended with code {ended.returncode}")

    if not paths:
        run([])
    for hash_seed in "12":
        run(["--replay", *paths], PYTHONHASHSEED=hash_seed)
    with contextlib.suppress(OSError):
        arguments.findings.rmdir()  # if it is empty
    return 1 if (work / "findings").exists() else 0


# The other processes: load the targets once, and fork for each run of a target.


def run_targets(load: Callable[[], Targets], arguments: argparse.Namespace) -> int:
    if not (arguments.replay or arguments.sanitize or arguments.blind):
        import atheris

        atheris.instrument_imports(include=["victorpy"]).__enter__()  # to the end: much is imported on request
    targets = load()
    chosen = arguments.target or (NATIVE_TARGETS if arguments.sanitize else list(targets))
    if unknown := [name for name in chosen if name not in targets]:
        sys.exit(f"fuzz: no target {unknown[0]}; targets: {', '.join(targets)}")
    runs = [TargetRuns(name, *targets[name], arguments) for name in chosen]
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty), contextlib.suppress(Exception):
        for run in runs:
            run.check(b"")  # loads models, which takes longer than any input
    for run in runs:
        if not arguments.replay:
            run.fuzz(arguments.seconds / len(runs))
        elif not run.findings():
            run.replay(arguments.files or sorted(run.corpus.iterdir())[:MOST_REPLAYED])
    return 0


class TargetRuns:
    """Runs one target in forks of this process."""

    def __init__(
        self,
        name: str,
        check: Callable[[bytes], str],
        seeds: Callable[[], Sequence[bytes]],
        words: Sequence[bytes],
        arguments: argparse.Namespace,
    ) -> None:
        self.name, self.check, self.words, self.arguments = name, check, list(words), arguments
        self.seeds = [seed[:LONGEST] for seed in seeds()]
        self.corpus = arguments.corpus / name
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.found = arguments.child / "found" / name
        self.found.mkdir(parents=True, exist_ok=True)
        arguments.findings.mkdir(parents=True, exist_ok=True)
        self.current = arguments.findings / f"{name}-current"

    def fuzz(self, seconds: float) -> None:
        """Start the fuzzer again after each finding, until the time is over."""
        fuzzer = self._mutate_until if self.arguments.sanitize or self.arguments.blind else self._fuzz_with_atheris
        end, seed, inputs = time.monotonic() + seconds, self.arguments.seed, 0
        while (left := end - time.monotonic()) > 1 and self.findings() < MOST_FINDINGS:
            output = self._fork(partial(fuzzer, left, seed))
            inputs += sum(map(int, COUNT.findall(output)))
            seed += 1
        size = len(list(self.corpus.iterdir()))
        print(f"{self.name}: {inputs:,} inputs, {size:,} kept, {self.findings()} findings", flush=True)

    def replay(self, inputs: Sequence[Path]) -> None:
        """Compare the results of inputs with those of a process with another hash seed, in opposite order."""
        digests, earlier = self.arguments.child / f"{self.name}.digests", {}
        if digests.exists():
            earlier, inputs = json.loads(digests.read_text()), inputs[::-1]
            digests.unlink()

        def write_digests() -> None:
            results = {str(path): self._guarded(path.read_bytes()) for path in inputs}
            encoded = {name: text.encode("utf-8", "surrogatepass") for name, text in results.items()}
            digests.write_text(json.dumps({name: hashlib.sha256(text).hexdigest() for name, text in encoded.items()}))

        self._fork(write_digests)
        later = json.loads(digests.read_text()) if digests.exists() else {}
        for path in earlier.keys() & later.keys():
            if earlier[path] != later[path]:
                self._report(Path(path).read_bytes(), b"the result depends on the hash seed or on earlier inputs")

    def findings(self) -> int:
        log = self.arguments.child / "findings"
        return log.read_text().split().count(self.name) if log.exists() else 0

    def _fork(self, work: Callable[[], None]) -> bytes:
        """Call a function in a fork and return its output. An empty directory gives messages the same file names."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as empty:
            child = os.fork()
            if not child:
                os.chdir(empty)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                work()
                sys.exit(0)  # not os._exit: libFuzzer writes its finding when the process exits
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            written = output.read()
        if code and self.current.exists() and not any(self.found.iterdir()):
            shutil.copy(self.current, self.found)
        self.current.unlink(missing_ok=True)
        found = list(self.found.iterdir())
        if code and not found:  # it did not even start
            shown = written.decode(errors="replace")[-5_000:]
            sys.exit(f"fuzz: {self.name} ended with code {code} without an input:\n{shown}")
        for path in found:
            self._report(path.read_bytes(), written or f"exit code {code}".encode())
            path.unlink()
        return written

    def _report(self, data: bytes, reason: bytes) -> None:
        path = self.arguments.findings / f"{self.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        path.with_name(f"{path.name}.txt").write_bytes(reason)
        with (self.arguments.child / "findings").open("a") as log:
            log.write(f"{self.name}\n")
        shown = reason.partition(b"Uncaught Python exception")[2][:2_000] or reason[-2_000:]
        print(f"fuzz: finding in {path}\n{shown.decode(errors='replace')}", flush=True)

    # These run in a fork.

    def _guarded(self, data: bytes) -> str:
        """Check an input. If that fails, ends the process or takes too long, the input is a finding."""
        signal.alarm(SECONDS_PER_INPUT)  # ends the process, even in C code
        result = self._check_written(data)
        signal.alarm(0)
        return result

    def _check_written(self, data: bytes) -> str:
        """Check an input after writing it to a file. If the check succeeds, the next input replaces it."""
        with self.current.open("wb", buffering=0) as file:
            file.write(data)
        return self.check(data)

    def _fuzz_with_atheris(self, seconds: float, seed: int) -> None:
        import atheris

        def mutate(data: bytes, longest: int, seed: int) -> bytes:
            pick = random.Random(seed)
            if pick.random() < 0.5:
                return mutated(pick, data, self.seeds, self.words)[:longest]
            return atheris.Mutate(data, longest)

        def check_one(data: bytes) -> None:
            self._check_written(data)

        for seed_input in self.seeds:
            self._keep(seed_input)
        options = {"max_total_time": int(seconds), "timeout": SECONDS_PER_INPUT, "seed": seed, "verbosity": 0}
        options |= {"max_len": max(map(len, self.seeds)), "rss_limit_mb": MOST_MEMORY // 1_000_000}
        options |= {"runs": MOST_RUNS.get(self.name, -1), "print_final_stats": 1}
        options |= {"report_slow_units": SECONDS_PER_INPUT}  # an input that takes less is no finding
        flags = [f"-{name}={value}" for name, value in options.items()]
        flags += [f"-artifact_prefix={self.found}/", str(self.corpus)]
        atheris.Setup(["fuzz", *flags], check_one, custom_mutator=mutate)
        atheris.Fuzz()  # ends the process

    def _mutate_until(self, seconds: float, seed: int) -> None:
        """Mutate inputs without atheris, guided by the coverage of the sanitized core if there is one."""
        corpus = list(self.seeds)
        coverage = None
        if self.arguments.sanitize:
            from victorpy import native

            assert native.engine() == "native", native.why_not()
            coverage = Coverage()
        else:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        pick = random.Random(seed)
        longest = max(map(len, self.seeds))
        queue, count = list(self.seeds), 0
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                data = queue.pop() if queue else mutated(pick, pick.choice(corpus), corpus, self.words)[:longest]
                self._guarded(data)
                if coverage and coverage.is_new():
                    corpus.append(data)
                if coverage is None or corpus[-1] is data:
                    self._keep(data)
                count += 1
        finally:
            print(f"stat::number_of_executed_units: {count}", file=sys.stderr)

    def _keep(self, data: bytes) -> None:
        (self.corpus / hashlib.sha256(data).hexdigest()).write_bytes(data)


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
