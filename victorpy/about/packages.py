"""What has to be installed before anything can be said of what a page is about."""

from __future__ import annotations

from functools import cache

from victorpy.about.terms import EXTRA
from victorpy.errors import require

PACKAGES = ("dateparser", "extruct", "icu4py", "py3langid", "stopwordsiso")


@cache
def check_packages() -> None:
    """Say what is not installed: once and for all, not once a page."""
    require(PACKAGES, EXTRA, "telling what pages are about")
