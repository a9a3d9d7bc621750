"""Fuzz every target for four seconds; `make fuzz SECONDS=600` takes longer. The fuzzer finds planted bugs."""

import re
import signal

import pytest
from fuzz.targets import TARGETS
from support.commands import ROOT, run_process

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_fuzzing_finds_nothing(tmp_path):
    program = ROOT / "tests" / "fuzz" / "run.py"
    ended = run_process(program, "--seconds", 4 * len(TARGETS), "--findings", tmp_path / "found", text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    inputs = {name: int(count.replace(",", "")) for name, count in re.findall(r"(\w+): ([\d,]+) inputs", ended.stdout)}
    assert all(inputs[name] > len({*TARGETS[name].seeds()}) for name in TARGETS), ended.stdout


BUGS = {
    "raises": "1 / (b'tea' not in data)",
    "hangs": "while b'tea' in data: pass",
    "eats": "kept = b'x' * (b'tea' in data) * 2 * 10**9; time.sleep(2 * bool(kept))",
    "crashes": "ctypes.string_at(0) if b'tea' in data else 0",
    "varies": "return str({*'abcdefg'})",
}
EXPECTED = {
    "raises": "ZeroDivisionError",
    "hangs": "timeout after|exit code -14",
    "eats": "out-of-memory|MemoryError",
    "crashes": "exit code -11",
    "varies": "depends on the hash seed",
}


@pytest.mark.parametrize(
    ("bugs", "options"),
    [(["raises", "eats", "varies"], []), (["hangs"], []), (["eats", "crashes"], ["--blind"]), (["hangs"], ["--blind"])],
)
def test_planted_bugs_are_found(bugs, options, tmp_path):
    if not options:
        pytest.importorskip("atheris")
    program = tmp_path / "planted.py"
    program.write_text(
        f"import sys\nsys.path[:0] = [{str(ROOT / 'tests')!r}]\n"
        "import ctypes, time\nfrom fuzz import run\n"
        f"run.SECONDS_PER_INPUT, run.MOST_FINDINGS, run.MOST_MEMORY = {3 if 'hangs' in bugs else 60}, 1, 10**9\n"
        + "".join(f"def {bug}(data):\n    {BUGS[bug]}\n    return ''\n" for bug in bugs)
        + f"bugs = {{name: (globals()[name], lambda: [b'pot', b'pot of'], [b'tea']) for name in {bugs}}}\n"
        "if __name__ == '__main__':\n    sys.exit(run.main(lambda: bugs))\n"
    )
    ended = run_process(program, "--seconds", 2 * len(bugs), "--findings", tmp_path / "found", *options, text=True)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    for bug in bugs:
        found = [path for path in (tmp_path / "found").glob(f"{bug}-*") if path.suffix != ".txt"]
        assert found, ended.stdout
        assert all(re.search(EXPECTED[bug], path.with_name(f"{path.name}.txt").read_text()) for path in found)
        assert bug == "varies" or all(b"tea" in path.read_bytes() for path in found)


@pytest.mark.parametrize("options", [[], ["--blind"]])
def test_input_that_was_being_checked_survives_any_end_of_the_fuzzer(options, tmp_path):
    if not options:
        pytest.importorskip("atheris")
    program = tmp_path / "planted.py"
    program.write_text(
        f"import os, signal, sys\nsys.path[:0] = [{str(ROOT / 'tests')!r}]\nfrom fuzz import run\n"
        "def kills(data):\n    if b'tea' in data: os.killpg(0, signal.SIGKILL)\n    return ''\n"
        "if __name__ == '__main__':\n"
        "    os.setpgid(0, 0)\n    seeds = lambda: [b'pot', b'pot of']\n"
        "    sys.exit(run.main(lambda: {'kills': (kills, seeds, [b'tea'])}))\n"
    )
    ended = run_process(program, "--seconds", 20, "--findings", tmp_path / "found", *options, text=True)
    assert ended.stderr == f"fuzz: a process ended with code {-signal.SIGKILL}\n", ended.stdout + ended.stderr
    assert b"tea" in (tmp_path / "found" / "kills-current").read_bytes()
