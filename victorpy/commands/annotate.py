"""Label the blocks of pages in the terminal, starting from a model's predictions.

examples:
  victor annotate page.html                    start or continue page.anno next to the page
  victor annotate page.html work/page.anno     write to another file
  victor annotate page.anno                    continue an annotation
  victor annotate crawl/ --order uncertainty   start with the pages that the model would learn most from
  victor annotate crawl/ --retrain             adapt the model to the finished pages in the background
  victor annotate --adjudicate anna.anno ben.anno -o gold.anno   decide between two annotations

Press ? to see all keys. Every change is saved at once. `victor learn` trains a model on annotated pages.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from victorpy.annotation import ORDERS
from victorpy.annotation.learning import Predictor
from victorpy.annotation.tui.keys import Keys
from victorpy.commands import Arguments
from victorpy.commands._shared import add_allow_code, describe_model
from victorpy.config import Config, load_config
from victorpy.errors import ConfigError, DataError, ModelError
from victorpy.model.store import DEFAULT, find_model


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pages", nargs="*", metavar="PAGE", type=Path, help="PAGE.html [PAGE.anno], PAGE.anno, or DIR")
    config = "use the keys and the splitting rules of this config, and the model trained with it"
    add("-c", "--config", metavar="NAME", help=config)
    add("-m", "--model", metavar="NAME", help="name of a bundled model, or a model directory (default: default)")
    add_allow_code(add)
    add("--no-model", action="store_true", help="start without predictions")
    add("--read-only", action="store_true", help="write nothing")
    add("--order", choices=ORDERS, default="name", help="order of the pages in a directory (default: name)")
    retrain = "adapt the model to the finished pages of DIR and update predictions for the others"
    add("--retrain", action="store_true", help=retrain)
    decide = "decide between two annotations of a page"
    add("--adjudicate", nargs=2, metavar=("A.anno", "B.anno"), type=Path, help=decide)
    add("-o", "--output", metavar="GOLD.anno", type=Path, help="output file of --adjudicate")


def run(arguments: Arguments) -> int:
    _check(arguments)
    config, predictor, note = _load_model(arguments)
    keys = Keys(load_config(arguments.config) if arguments.config else config)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DataError("annotate is a full-screen program; start it in a terminal")
    if sys.platform == "win32":
        raise DataError("annotate needs Unix file locks; on Windows, start it in WSL")
    from victorpy.annotation.opening import open_adjudication, open_page
    from victorpy.annotation.pages import Pages, annotation_of
    from victorpy.annotation.tui.app import App  # needs urwid and Unix
    from victorpy.annotation.tui.screen import run as show

    app = App(keys, config, predictor, arguments.read_only, arguments.retrain)
    first, *rest = arguments.adjudicate or arguments.pages
    if arguments.adjudicate:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        app.show_page(open_adjudication(first, rest[0], arguments.output, config, arguments.read_only))
    elif first.is_dir():
        app.show_list(Pages(first, config, predictor, not arguments.read_only), arguments.order)
    else:
        page, anno = (first, rest[0] if rest else annotation_of(first)) if first.suffix != ".anno" else (None, first)
        app.show_page(open_page(page, anno, config, predictor, arguments.read_only))
    if note:
        app.say(note[0].upper() + note[1:], also=True)
        arguments.say(note)  # visible after the full-screen program has ended
    received_signal = show(app)
    for failure in app.failures:
        arguments.say(str(failure))
    return 128 + received_signal if received_signal else int(bool(app.failures))


def _check(arguments: Arguments) -> None:
    if arguments.no_model and arguments.model:
        raise ConfigError(f"--no-model and --model {arguments.model} cannot be combined")
    if arguments.adjudicate:
        if arguments.pages or not arguments.output:
            raise ConfigError("--adjudicate takes two annotations and -o GOLD.anno, and no other page")
        return
    if arguments.output:
        raise ConfigError(
            "-o works only with --adjudicate; name the annotation file after the page: PAGE.html PAGE.anno"
        )
    if not 1 <= len(arguments.pages) <= 2:
        raise ConfigError("give PAGE.html [PAGE.anno], PAGE.anno or DIR; see --help for examples")
    first, *rest = arguments.pages
    if not first.exists():
        raise DataError(f"{first}: cannot be read: No such file or directory")
    if rest and (first.is_dir() or first.suffix == ".anno"):
        raise ConfigError(f"{first} is not a page; only a page can be followed by an annotation file ({rest[0]})")
    if arguments.retrain and not first.is_dir():
        raise ConfigError("--retrain needs a directory: victor annotate --retrain DIR")


def _load_model(arguments: Arguments) -> tuple[Config, Predictor | None, str]:
    """Return the config, the model, and a note that names the model if only a config was given.

    A config without --model uses the model of the same name, if it exists.
    """
    config = load_config(arguments.config) if arguments.config else None
    if arguments.no_model or arguments.adjudicate:
        return config or load_config(DEFAULT), None, ""
    name, note, missing = arguments.model or DEFAULT, "", ""
    if config is not None and not arguments.model:
        try:
            find_model(config.name)
            name, note = config.name, describe_model(config.name, Path("models") / config.name)
        except ModelError:
            missing = f"no model is named {config.name}"
            note = f"using the bundled model {DEFAULT}, because {missing}; choose another with --model"
    predictor = Predictor.load(name, allow_code=arguments.allow_code)
    if config is not None:
        different = predictor.cleaner.config.differences(config)
        if different:
            raise ConfigError(
                f"{missing and f'{missing}, and '}the model {name!r} does not match the config {arguments.config!r}: "
                f"they differ in {', '.join(different[:3])}; choose another model with --model, use --no-model, "
                f"or train one with: victor learn --config {arguments.config} FILES.anno"
            )
        predictor = replace(predictor, cleaner=predictor.cleaner.with_config(config))
    return predictor.cleaner.config, predictor, note
