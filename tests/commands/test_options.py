"""The options of all commands, and the run that options of clean ask for."""

import os
from pathlib import Path

import pytest
from support.commands import clean, refused, write_files

from victorpy.batch.outcome import Counts
from victorpy.commands import Parser, _load_command

# The run that options of clean ask for.


def plan_of_run(arguments, directory, monkeypatch):
    """Return the plan of a command without running it, and whether workers clean its pages."""
    plans = []

    def keep(plan, stream, write, guarded, **options):
        plans.append((plan, guarded))
        return {**Counts().as_dict(), "seconds": 0.0, "runs": [{}]}

    monkeypatch.setattr("victorpy.commands.clean.run_plan", keep)
    ended = clean(*arguments.split(), "--method", "sst" if "--by-site" in arguments else "everything", cwd=directory)
    assert ended.returncode == 0, ended.stderr
    return plans[0]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Pages by their names, in directories, and in a file."""
    place = tmp_path_factory.mktemp("inputs")
    files = {f"few/{number}.html": "<p>Tea" for number in range(50)}
    files |= {f"many/{number}.html": "<p>Tea" for number in range(51)}
    return write_files(place, {**files, "a.html": "<p>Tea", "x.jsonl": "", "there/x": "", "one/b.html": "<p>Tea"})


@pytest.mark.parametrize(
    ("arguments", "output", "kind"),
    [
        ("a.html", None, "plain"),
        ("a.html -o -", None, "plain"),
        ("a.html -o new", None, "plain"),
        ("a.html -o new.txt", None, "plain"),
        ("a.html -o there", "there", "plain"),
        ("a.html -o new/", "new", "plain"),
        ("a.html -f jsonl -o new.jsonl", None, "plain"),
        ("a.html -o new.jsonl", "new.jsonl", "jsonl"),
        ("a.html -f jsonl -o new.jsonl/", "new.jsonl", "jsonl"),
        ("a.html -o new.jsonl.gz", "new.jsonl.gz", "jsonl.gz"),
        ("a.html -o NEW.PARQUET", "NEW.PARQUET", "parquet"),
        ("a.html -o new --to warc", "new", "warc"),
        ("one -o new", "new", "plain"),
        ("few -o new", "new", "plain"),
        ("few -f jsonl -o new", None, "plain"),
        ("few -f html -o new", "new", "plain"),
        ("many -o new", "new", "plain, in workers"),
        ("x.jsonl", None, "folder"),
        ("x.jsonl -o new", "new", "folder"),
        ("x.jsonl -o new.jsonl.zst/", "new.jsonl.zst", "jsonl.zst"),
        *((f"a.html -o new/ {option}", "new", "folder") for option in (
            "--jobs 1", "--timeout 5", "--memory 500", "--max-size 1", "--shard-records 5", "--html-field x",
            "--url-field x", "--check-digests", "--summary s.json", "--by-site", "--dedup fingerprint",
        )),
    ],
)  # fmt: skip
def test_inputs_and_output_decide_the_kind_of_run(inputs, monkeypatch, arguments, output, kind):
    plan, guarded = plan_of_run(arguments, inputs, monkeypatch)
    assert plan.output == (output and Path(output))
    is_plain = kind.startswith("plain")
    assert (plan.to, plan.plain) == ("folder" if is_plain else kind, is_plain)
    assert guarded is (kind != "plain")
    cores = len(os.sched_getaffinity(0))
    assert plan.limits.jobs == (1 if kind == "plain" or "--jobs" in arguments else cores)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2", ".xz", ".zip", ".GZ"])
def test_texts_are_not_compressed(inputs, suffix):
    assert f"choose a name without {suffix}" in refused(clean("a.html", "-o", f"tea{suffix}", cwd=inputs))


@pytest.mark.parametrize("suffix", [".doc", ".docx", ".odt", ".pdf", ".rtf", ".epub", ".xlsx", ".PDF"])
def test_documents_are_not_written(inputs, suffix):
    assert f"no format writes {suffix} files" in refused(clean("a.html", "-o", f"tea{suffix}", cwd=inputs))


OPTIONS = Path(__file__).parents[1] / "cases" / "options.txt"


def options_of(command):
    """Return a line for each argument of a command: its names, what it takes, and its default."""
    parser = Parser(f"victor {command}", "")
    _load_command(command).configure(parser)
    for action in parser._actions[1:]:  # without --help
        takes = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
        takes = "" if action.nargs == 0 else takes if isinstance(takes, str) else " ".join(takes)
        number = {"*": " [...]", "+": "...", "?": "?"}.get(action.nargs, "")
        kind = {int: "a whole number", float: "a number"}.get(action.type, "")
        is_required, is_repeatable = action.required and bool(action.option_strings), "Append" in repr(action)
        notes = [kind, "required" * is_required, "repeatable" * is_repeatable]
        default = "" if action.default in (None, False, []) else f"default {action.default}"
        names = ", ".join(action.option_strings) or action.dest
        words = f"{names} {takes}{number}".strip()
        yield f"{command}: {'; '.join(filter(None, [words, *notes, default]))}"


@pytest.mark.parametrize("command", sorted({line.partition(":")[0] for line in OPTIONS.read_text().splitlines()}))
def test_commands_have_the_listed_options(command):
    listed = [line for line in OPTIONS.read_text().splitlines() if line.startswith(f"{command}:")]
    assert list(options_of(command)) == listed
