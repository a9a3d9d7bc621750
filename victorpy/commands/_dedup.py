"""Arguments about replicas, which `clean` and `spark-clean` share."""

from __future__ import annotations

import argparse

from victorpy.batch.dedup import Dedup
from victorpy.dedup.base import DETECTORS, KEEP, Keep
from victorpy.errors import ConfigError


def configure_dedup(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--dedup",
        metavar="METHOD",
        help=f"leave out pages that repeat others ({', '.join(DETECTORS)}): docs/replicas.md",
    )
    group.add_argument("--keep", choices=KEEP, help="which of pages that repeat each other stays (default: first)")
    group.add_argument(
        "--dedup-param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of that method"
    )


def dedup_of(arguments: argparse.Namespace) -> Dedup | None:
    """Return how to find replicas; None if they are not to be removed."""
    if arguments.dedup is None:
        if arguments.keep or arguments.dedup_param:
            option = "--keep" if arguments.keep else "--dedup-param"
            raise ConfigError(f"{option} says how replicas are dealt with: give --dedup {' or '.join(DETECTORS)} too")
        return None
    dedup = Dedup(arguments.dedup, tuple(arguments.dedup_param), arguments.keep or Keep.FIRST)
    dedup.detector()
    return dedup
