"""Commands around something that is replaced here: the full-screen program, Spark, and runs that are stopped."""

import io
import signal
import sys
from pathlib import Path

import pytest
from support.annotation import CUPS, H, P, decided_in, labelled, screen_of
from support.commands import clean, victor

from victorpy import commands
from victorpy.annotation.tui import screen
from victorpy.batch.local.signals import Stopped
from victorpy.batch.outcome import Outcome
from victorpy.batch.record import Record, Status
from victorpy.commands import clean as clean_command

# The full-screen program.


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def annotate(tmp_path, monkeypatch, capsys):
    """A function that runs the command. It returns the exit code, the screen at the end, and standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tea.html").write_text(CUPS)

    def run(*arguments, keys="", ended=0, failures=()):
        shown = []

        def show(app):
            app.draw(100, 30)
            for key in keys:
                app.key(key)
            app.failures.extend(failures)
            shown.append((app, "\n".join(screen_of(app))))
            app.close()
            return ended

        monkeypatch.setattr(screen, "run", show)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", Terminal())
            patch.setattr(sys, "stdout", Terminal())
            code = commands.run("annotate", [str(argument) for argument in arguments])
        return code, shown[0][1] if shown else "", capsys.readouterr().err

    return run


def test_pages_to_annotate(annotate, tmp_path):
    code, shown, err = annotate("--no-model", "tea.html", keys="h")
    assert (code, err, "1 decided" in shown) == (0, "", True)
    annotate("--no-model", "tea.html", "other.anno", keys="hp")
    assert [decided_in(tmp_path / name) for name in ("tea.anno", "other.anno")] == [1, 2]
    annotate("--no-model", "tea.anno", keys="p")
    assert decided_in(tmp_path / "tea.anno") == 2
    code, shown, _ = annotate("--no-model", "--read-only", ".", "--order", "progress")
    assert (code, "tea" in shown, "block 1 of" in shown) == (0, True, False)


def test_nothing_is_written_if_annotations_are_only_read(annotate, tmp_path):
    assert annotate("--no-model", "--read-only", "tea.html", keys="h")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tea.html"]


def test_adjudication_writes_into_a_new_directory(annotate, tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.html").write_text(CUPS)
        labelled(tmp_path / f"{name}.anno", H, P)
    code, shown, err = annotate("--adjudicate", "anna.anno", "ben.anno", "-o", "new/gold.anno")
    assert (code, "gold.anno" in shown) == (0, True), err
    assert (tmp_path / "new" / "gold.anno").exists()


@pytest.mark.parametrize(
    ("ended", "failures", "code"),
    [(0, [], 0), (0, ["the disk is full"], 1), (signal.SIGTERM, [], 143), (signal.SIGHUP, ["the disk is full"], 129)],
)
def test_exit_codes_of_annotate(annotate, ended, failures, code):
    found, _, err = annotate("--no-model", "tea.html", ended=ended, failures=failures)
    assert (found, err) == (code, "".join(f"annotate: {failure}\n" for failure in failures))


def test_config_without_a_model_of_its_name(annotate, tmp_path):
    (tmp_path / "my.conf").write_text("include default\nannotate-key-label-other: 0\n")
    note = "using the bundled model default, because no model is named my; choose another with --model"
    code, shown, err = annotate("--config", "my.conf", "tea.html")
    assert (code, err) == (0, f"annotate: {note}\n")
    assert "U" + note[1:40] in shown
    assert annotate("--config", "my.conf", "--no-model", "tea.html")[::2] == (0, "")
    code, shown, err = annotate("--config", "crf", "tea.html")
    assert (code, shown) == (2, "")
    assert "no model is named crf, and the model 'default' does not match the config 'crf': they differ in" in err


# Spark.


class Session:
    """A session that notes what happens to it."""

    def __init__(self):
        self.sparkContext = self
        self.log = []

    def setLogLevel(self, level):  # noqa: N802  (the name in Spark)
        self.log.append(level)

    def stop(self):
        self.log.append("stopped")


@pytest.fixture
def spark_clean(tmp_path, monkeypatch):
    """A function that runs the command. It returns how it ended, the session's events, its master and the plan."""
    spark = pytest.importorskip("victorpy.spark")
    pytest.importorskip("fastwarc")
    monkeypatch.chdir(tmp_path)
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n')
    counts = {"pages": 3, "kept": 3, "empty": 0, "skipped": 0, "failed": 0, "seconds": 2.0, "bytes": 4, "kinds": {}}

    def run(*arguments, error=None, **changed):
        session, calls = Session(), []

        def run_plan(started, plan, say, force):
            calls.append((plan, force))
            if error:
                raise error
            return {**counts, **changed}

        monkeypatch.setattr(spark, "session", lambda master: calls.append(master) or session)
        monkeypatch.setattr(spark, "run_plan", run_plan)
        return victor("spark-clean", "x.jsonl", "out/", *arguments, text=True), session.log, *calls

    return run


def test_spark_run_has_the_defaults_of_the_manual(spark_clean):
    ended, log, master, (plan, force) = spark_clean()
    assert (ended.returncode, ended.stdout, log, master, force) == (0, "", ["ERROR", "stopped"], "local[*]", False)
    assert ended.stderr.splitlines()[0].startswith("pages          3     1.5 pages/s")
    assert (plan.inputs, plan.output, plan.to) == (("x.jsonl",), "out/", "parquet")
    assert (plan.shard_files, plan.buckets) == (None, 16)
    assert (plan.format, plan.by_site, plan.dedup) == ("text", False, None)


def test_options_of_spark_runs(spark_clean, tmp_path):
    options = ("--to", "jsonl.gz", "--shard-files", 5, "--buckets", 7, "--by-site", "--method", "sst", "--force")
    ended, _, _, (plan, force) = spark_clean(*options, "--quiet", "--summary", "new/s.json")
    assert (ended.returncode, ended.stderr, force) == (0, "", True)
    assert (plan.to, plan.shard_files, plan.buckets, plan.by_site) == ("jsonl.gz", 5, 7, True)
    assert '"pages": 3' in (tmp_path / "new" / "s.json").read_text()


def test_failed_pages_of_spark_runs_are_named(spark_clean):
    ended, *_ = spark_clean(failed=1, kinds={"timeout": 1})
    assert ended.returncode == 1
    failed = "failed pages are listed in out/_failed.jsonl; clean them again with victor clean --retry"
    assert ended.stderr.splitlines()[-1] == f"spark-clean: {failed}"
    assert spark_clean("--quiet", failed=1, kinds={"timeout": 1})[0].stderr == ""


@pytest.mark.parametrize("name", ["PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER"])
def test_master_comes_from_an_option_or_from_the_configuration(spark_clean, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert spark_clean()[1:3] == (["stopped"], None)
    assert spark_clean("--master", "spark://tea:7077")[1:3] == (["stopped"], "spark://tea:7077")
    assert spark_clean("--master", "local[2]")[1:3] == (["ERROR", "stopped"], "local[2]")


def test_session_is_stopped_if_the_run_fails(spark_clean):
    with pytest.raises(ZeroDivisionError):
        spark_clean(error=ZeroDivisionError())
    ended, log, *_ = spark_clean(error=commands.VictorError("no tea"))
    assert (ended.returncode, ended.stderr, log) == (2, "spark-clean: no tea\n", ["ERROR", "stopped"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "folder"], "must be one of parquet, jsonl, jsonl.gz"),
        (["--method", "sst"], "add --by-site"),
        (["--method", "site"], "--method site learns from sites; add --by-site"),
        (["--model", "site"], "--model site learns from sites; add --by-site"),
        (["--model", "nowhere"], "nowhere"),
        (["--by-site", "--method", "default"], "does not learn from sites"),
    ],
)
def test_command_refuses_wrong_options_before_it_starts_spark(spark_clean, arguments, words):
    ended, log, *calls = spark_clean(*arguments)
    assert (ended.returncode, words in ended.stderr, log, calls) == (2, True, [], []), ended.stderr


# Runs that are stopped.


def stopped_after(monkeypatch, texts, error):
    """Let runs write some texts and then end with an error."""

    def run_plan(plan, stream, write, **options):
        for number, text in enumerate(texts):
            write(Record(f"{number}.html", Path()), Outcome(Status.KEPT, text))
        raise error

    monkeypatch.setattr(clean_command, "run_plan", run_plan)


@pytest.fixture
def pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        (tmp_path / f"{number}.html").write_text("<p>Tea")
    return ("0.html", "1.html", "2.html")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (Stopped(signal.SIGTERM), 143)])
def test_pages_of_a_stopped_run_are_kept_beside_the_output(pages, tmp_path, monkeypatch, error, code):
    (tmp_path / "all.jsonl").write_text("earlier\n")
    stopped_after(monkeypatch, ['{"n": 1}\n', '{"n": 2}\n'], error)
    ended = clean(*pages, "-o", "all.jsonl", "-f", "jsonl", text=True)
    place = tmp_path / "all.jsonl.partial"
    words = f"clean: stopped: 2 pages written to {place}; the same command starts over (-o DIRECTORY would resume)"
    assert (ended.returncode, ended.stderr) == (code, f"{words}\n")
    assert place.read_text() == '{"n": 1}\n{"n": 2}\n'
    assert (tmp_path / "all.jsonl").read_text() == "earlier\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == [*pages, "all.jsonl", "all.jsonl.partial"]


def test_partial_output_ends_like_a_whole_one(pages, tmp_path, monkeypatch):
    stopped_after(monkeypatch, ["<page/>"], KeyboardInterrupt())
    clean(*pages, "-o", "all.xml")
    assert (tmp_path / "all.xml.partial").read_text().endswith(clean_command.find_output("xml").around[1])
    assert not (tmp_path / "all.xml").exists()


def test_pages_of_a_stopped_run_on_standard_output(pages, monkeypatch):
    stopped_after(monkeypatch, ["Tea", "Cup"], KeyboardInterrupt())
    ended = clean(*pages, "-f", "xml", text=True)
    assert (ended.returncode, ended.stderr) == (130, "clean: stopped: 2 pages written\n")
    assert ended.stdout.endswith(clean_command.find_output("xml").around[1])


@pytest.mark.parametrize("texts", [[], ["Tea"]])
def test_a_run_that_is_stopped_before_the_first_page_leaves_nothing(pages, tmp_path, monkeypatch, texts):
    stopped_after(monkeypatch, texts, KeyboardInterrupt())
    ended = clean(*(pages if not texts else pages[:1]), "-o", "all.txt", text=True)
    assert (ended.returncode, ended.stderr) == (130, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [*pages]


def test_output_directory_that_was_removed(pages, tmp_path, monkeypatch):
    def run_plan(plan, stream, write, **options):
        write(Record("0.html", Path()), Outcome(Status.KEPT, "Tea"))
        for path in (tmp_path / "out").iterdir():
            path.unlink()
        (tmp_path / "out").rmdir()
        return {}

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(clean_command, "run_plan", run_plan)
    ended = clean("0.html", "-o", "out/all.txt", text=True)
    assert ended.returncode == 2
    assert ended.stderr.endswith("out/all.txt: the directory was removed during the run\n")


# Kinds of runs.


def test_directory_of_a_batch_run_gets_no_plain_run(pages, tmp_path, monkeypatch):
    plans = []

    def run_plan(plan, *arguments, **options):
        plans.append((plan.plain, plan.to, options["guarded"]))
        return {"pages": 3, "kept": 3, "empty": 0, "skipped": 0, "failed": 0, "seconds": 1, "bytes": 9, "kinds": {}}

    monkeypatch.setattr(clean_command, "run_plan", run_plan)
    (tmp_path / "batch").mkdir()
    (tmp_path / "batch" / "manifest.jsonl").write_text('{"format": 2, "settings": {}}\n')
    (tmp_path / "plain").mkdir()
    for output in ("batch", "plain", "new/", "-"):
        clean(*pages, "-o", output)
    assert plans == [(False, "folder", True), *[(True, "folder", False)] * 3]
