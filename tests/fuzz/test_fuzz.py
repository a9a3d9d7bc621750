"""Fuzz every target for two seconds; `make fuzz SECONDS=600` takes longer. The fuzzer finds planted bugs."""

import re

import pytest
from fuzz.targets import TARGETS
from support.commands import ROOT, run_process

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.mark.parametrize("name", TARGETS)
def test_fuzzing_for_two_seconds_finds_nothing(name, tmp_path):
    program = ROOT / "tests" / "fuzz" / "run.py"
    ended = run_process(program, "--target", name, "--seconds", 2, "--findings", tmp_path / "found", text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    inputs = int(re.search(rf"{name}: ([\d,]+) inputs", ended.stdout)[1].replace(",", ""))
    assert inputs > len(TARGETS[name].seeds())


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
    ("bug", "options"),
    [(bug, []) for bug in ("raises", "hangs", "eats", "varies")]
    + [(bug, ["--blind"]) for bug in ("hangs", "eats", "crashes")],
)
def test_planted_bug_is_found(bug, options, tmp_path):
    if not options:
        pytest.importorskip("atheris")
    program = tmp_path / "planted.py"
    program.write_text(
        f"import sys\nsys.path[:0] = [{str(ROOT / 'tests')!r}]\n"
        "import ctypes, time\nfrom fuzz import run, targets\n"
        f"run.SECONDS_PER_INPUT, run.MOST_FINDINGS, run.MOST_MEMORY = {3 if bug == 'hangs' else 60}, 1, 1_000_000_000\n"
        "@targets.target(lambda: [b'pot', b'pot of'], [b'tea'])\n"
        f"def planted(data):\n    {BUGS[bug]}\n    return ''\n"
        "if __name__ == '__main__':\n    sys.exit(run.main())\n"
    )
    options = ["--target", "planted", "--seconds", 3, "--findings", tmp_path / "found", *options]
    ended = run_process(program, *options, text=True)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert re.search(EXPECTED[bug], ended.stdout), ended.stdout
    assert bug == "varies" or all(b"tea" in path.read_bytes() for path in (tmp_path / "found").glob("*[0-9a-f]"))
