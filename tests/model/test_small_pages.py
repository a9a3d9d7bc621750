"""Small and odd pages: the bundled model keeps their text, or says that there is none."""

import pytest

from tests.support.commands import victor
from victorpy import Cleaner
from victorpy.cleaner import BUILT_BY_SCRIPTS

TEXT = "Tea is made by pouring hot water over the cured leaves of the tea bush, and it is drunk all over the world."


@pytest.fixture(scope="module")
def cleaner():
    return Cleaner.load()


@pytest.mark.parametrize(
    ("page", "kept", "dropped"),
    [
        ("<p>Tea", ["Tea"], []),
        (f"<body><div style='display:none'><p>{TEXT}</p></div></body>", [TEXT], []),  # hidden, but the only text
        (
            "<nav><a href=/>Home</a> <a href=/a>About</a></nav><main><h1>Opening hours</h1><p>Monday 9-5</p>"
            "<p>Tuesday 9-5</p><p>Closed on Sunday</p></main><footer>Copyright 2024</footer>",
            ["Opening hours", "Monday 9-5", "Closed on Sunday"],
            ["Home", "Copyright"],
        ),
        (
            f"<h1>Tea</h1><article><p>{TEXT}</p></article><div hidden><p>{TEXT}</p></div><p>Milk makes tea mild.</p>",
            [TEXT, "Milk"],
            [f"{TEXT}\n\n{TEXT}"],
        ),
    ],
)
def test_text_of_small_pages(cleaner, page, kept, dropped):
    cleaned = cleaner.document(page)
    assert not cleaned.is_empty
    assert all(part in cleaned.text for part in kept)
    assert not any(part in cleaned.text for part in dropped)


def test_gibberish_has_little_confidence(cleaner):
    paragraph = f"<p>{'xkqz wrtp bdfg qwrt zxcv plkj hgfd mnbv ' * 6}</p>"
    assert cleaner.document("<h1>Xkq zrt</h1>" + 6 * paragraph).confidence < 0.6
    assert cleaner.document("<h1>Tea</h1>" + 6 * f"<p>{TEXT} {TEXT}</p>").confidence > 0.8


@pytest.mark.parametrize(
    ("page", "is_shell"),
    [
        (f"<head>{'<link rel=stylesheet href=a.css>' * 20}</head><div id=app></div>", True),
        ("<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>", True),
        ("<html><body></body></html>", False),
        ("<nav><a href=/>Home</a> <a href=/a>About us</a></nav>", False),
    ],
)
def test_pages_that_scripts_build_are_reported(cleaner, page, is_shell):
    cleaned = cleaner.document(page)
    assert cleaned.is_empty
    assert (BUILT_BY_SCRIPTS in cleaned.document.losses) == is_shell
    assert (cleaned.confidence <= 0.4) == is_shell
    assert not cleaner.document(page + f"<p>{TEXT} {TEXT}</p>").document.losses


def test_an_empty_result_is_reported(tmp_path):
    page = tmp_path / "menu.html"
    page.write_text("<nav><a href=/>Home</a> <a href=/a>About us</a></nav>", encoding="utf-8")
    result = victor("clean", page, text=True)
    assert result.stdout.strip() == ""
    assert "no content was found" in result.stderr
