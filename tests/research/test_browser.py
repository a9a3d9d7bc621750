"""Views and reports in a real browser: Debian's chromium, driven by selenium. Nothing is fetched from anywhere."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from victorpy.config import load_config
from victorpy.model.store import load_model
from victorpy.research.evaluate import Settings, evaluate, means
from victorpy.research.gold import load_gold

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install -e '.[dev]'")
from selenium.common.exceptions import NoAlertPresentException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = [name for name, path in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not path]
NO_BROWSER = f"no {' and no '.join(MISSING)} here: apt install chromium chromium-driver"
pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(MISSING), reason=NO_BROWSER)]

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parents[1] / "cases" / "view"
TEA = CASES / "tea.html"
BAKERY = ROOT / "data" / "article" / "courier-bakery.html"
GOLD = BAKERY.with_suffix(".anno")
ALERT = "</script><script>alert(1)</script>"
OPTIONS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1280,900""".split()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in [*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.set_capability("unhandledPromptBehavior", "ignore")  # an alert stays open, so that it can be seen
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def turned(anno):
    """An annotation with content and noise swapped, so that any model misses some content and keeps some noise."""
    label = re.compile(r"^(header|paragraph|list|continuation|other)(?=\t)", re.MULTILINE)
    return label.sub(lambda found: "paragraph" if found[1] == "other" else "other", anno)


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """Views by name, as the command writes them."""
    directory = tmp_path_factory.mktemp("views")
    (directory / "turned.anno").write_text(turned(GOLD.read_text(encoding="utf-8")), encoding="utf-8")
    wanted = {
        "tea": [TEA],
        "hostile": [CASES / "hostile.html", "--url", ALERT],
        "gold": [TEA, "--gold", CASES / "tea.anno"],
        "against": [BAKERY, "--gold", GOLD, "--against", "cleaneval"],
        "bakery": [BAKERY, "--gold", GOLD],
        "turned": [BAKERY, "--gold", directory / "turned.anno"],
    }
    for name, arguments in wanted.items():
        command = [sys.executable, "-m", "victorpy", "view", *arguments, "-o", directory / f"{name}.html"]
        subprocess.run(list(map(str, command)), check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
    return {name: directory / f"{name}.html" for name in wanted}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of a small evaluation, with every plot and a page of a hostile name."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[research]'")
    from victorpy.research.report import evaluation
    from victorpy.research.report.base import to_html
    from victorpy.research.report.views import write_views

    data, out = tmp_path_factory.mktemp("data") / "article", tmp_path_factory.mktemp("report")
    data.mkdir()
    for page in sorted((ROOT / "data" / "article").glob("courier-*")):
        shutil.copy(page, data)
    config = load_config("crf")
    config = replace(config, values={**config.values, "crf-param-max_iterations": ("15",)})
    pages = load_gold([f"anno:{data.parent}"], config, pytest.fail)
    pages[0] = replace(pages[0], name=ALERT, document=replace(pages[0].document, title=ALERT))
    result = evaluate(pages, config, Settings(folds=2, group="page"), lambda *_: None)
    row = {"mean": means(result.pages), "interval": {"words_f1": [0.5, 0.9]}, "difference": {"mean": 0, "p_value": 1}}
    result = replace(
        result,
        experiments={
            "learning_curve": [{**row, "pages": count} for count in (2, 4)],
            "ablation": [{**row, "variant": name} for name in ("all features", f"without {ALERT}")],
        },
    )
    views = write_views(result.pages, pages, result.config, out / "pages")
    (out / "report.html").write_text(to_html(evaluation.report(result.scores(), ALERT, views)), encoding="utf-8")
    return out / "report.html"


def open_page(browser, path, width=1280, height=900, scheme="light"):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("browser")  # forget the log of the previous page
    browser.get(path.as_uri())


def assert_quiet(browser):
    """Check that the browser logged no error, fetched nothing and opened no dialog."""
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert
    assert browser.get_log("browser") == []
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []


def blocks_in(browser, extra=""):
    return browser.find_elements(By.CSS_SELECTOR, f".block{extra}")


def panel(browser):
    """Return what the side panel shows about a block and its features."""
    return browser.execute_script("""
        const texts = selector => [...document.querySelectorAll(selector)].map(found => found.textContent);
        const terms = texts('aside dt'), values = texts('aside dd');
        return [Object.fromEntries(terms.map((term, at) => [term, values[at]])),
                Object.fromEntries([...document.querySelectorAll('aside tr')].map(
                    row => [...row.cells].map(cell => cell.textContent)))];""")


def point(browser, *blocks):
    for block in blocks:
        ActionChains(browser).move_to_element(block).perform()


def press(browser, *keys):
    """Press keys, and return the number of the focused block, if any, after each key."""
    focused = []
    for key in keys:
        ActionChains(browser).send_keys(key).perform()
        focused.append(browser.execute_script("return document.activeElement.dataset.number ?? null"))
    return focused


def box(browser, element):
    """The positions of an element's top and bottom in the window."""
    return browser.execute_script(f"const box = {element}.getBoundingClientRect(); return [box.top, box.bottom]")


# The view opens


@pytest.mark.parametrize("name", ["tea", "gold", "against", "hostile"])
def test_view_opens_without_complaints(browser, views, name):
    open_page(browser, views[name])
    assert blocks_in(browser)
    assert_quiet(browser)


def test_style_is_applied(browser, views):
    """If the digest in the policy were wrong, the page would have no colours and indents."""
    open_page(browser, views["tea"])
    [kept] = blocks_in(browser, ".header")
    assert kept.value_of_css_property("background-color") not in {"rgba(0, 0, 0, 0)", "transparent"}
    assert blocks_in(browser, ".other")[0].value_of_css_property("background-color") == "rgba(0, 0, 0, 0)"
    assert blocks_in(browser, ".pre")[1].text == "    spoons = cups + 1"


def test_more_probable_paragraph_has_a_stronger_colour(browser, views):
    open_page(browser, views["bakery"])
    strengths = browser.execute_script("""
        return [...document.querySelectorAll('.block.paragraph')].map(block => [
            parseFloat(block.dataset.probability),
            parseFloat(getComputedStyle(block).backgroundColor.match(/([\\d.]+)\\)$/)[1])])""")
    strengths.sort()
    (low, weak), (high, strong) = strengths[0], strengths[-1]
    assert high - low > 0.1
    assert strong > weak


# Nothing of the page runs


def test_nothing_of_the_page_runs(browser, views):
    open_page(browser, views["hostile"])
    for block in blocks_in(browser):
        ActionChains(browser).move_to_element(block).click().perform()
    press(browser, "j", "k", "n", "p", Keys.TAB, Keys.ENTER)
    assert browser.execute_script("return [document.title, window.ran ?? null]") == [ALERT, None]
    assert browser.current_url == views["hostile"].as_uri()
    assert_quiet(browser)


@pytest.mark.parametrize("tag", ["a", "img", "iframe", "svg", "form", "button", "base", "link", "details", "video"])
def test_nothing_of_the_page_is_an_element(browser, views, tag):
    if browser.current_url != views["hostile"].as_uri():
        open_page(browser, views["hostile"])
    assert browser.find_elements(By.TAG_NAME, tag) == []
    assert browser.execute_script("return document.scripts.length") == 1


def test_hostile_text_is_shown_as_text(browser, views):
    open_page(browser, views["hostile"])
    assert browser.find_element(By.TAG_NAME, "h1").text == ALERT
    shown = [block.text for block in blocks_in(browser)]
    assert ALERT in shown
    assert '" onmouseover="window.ran = \'alt\'" x="' in shown


@pytest.mark.parametrize(
    "markup",
    [
        "<img src=x onerror='window.ran = 1'>",
        "<p onclick='window.ran = 1' id=target>a",
        "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    ],
    ids=["image", "handler", "frame"],
)
def test_policy_stops_markup_that_was_not_escaped(browser, views, markup):
    open_page(browser, views["tea"])
    browser.execute_script("document.body.insertAdjacentHTML('afterbegin', arguments[0])", markup)
    browser.execute_script("document.querySelector('#target')?.click()")
    browser.execute_async_script("setTimeout(arguments[0], 100)")  # loading and failing take a moment
    assert browser.execute_script("return window.ran ?? null") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


# Pointing and stepping


def test_block_is_shown_when_pointed_at(browser, views):
    open_page(browser, views["gold"])
    blocks = blocks_in(browser)
    point(browser, blocks[2])
    shown, features = panel(browser)
    assert shown["path"] == "/html[1]/body[1]/h1[1]"
    assert (shown["number"], shown["label"], shown["gold"]) == ("2", "header", "header")
    assert 0 < float(shown["probability"]) <= 1
    assert features["container.class-header"] == "1"
    assert set(features) == set(load_model().config.features)
    point(browser, blocks[3])
    assert panel(browser)[0]["number"] == "3"


def test_block_is_shown_when_focused(browser, views):
    open_page(browser, views["gold"])
    press(browser, *"jj")
    shown, features = panel(browser)
    assert (shown["path"], shown["label"]) == ("/html[1]/body[1]/p[1]", "paragraph")
    assert features["container.p"] == "1"
    assert browser.switch_to.active_element.value_of_css_property("outline-style") == "solid"


def test_panel_shows_text_and_never_markup(browser, views):
    open_page(browser, views["tea"])
    markup = "<b>bold</b>"
    browser.execute_script(
        """const block = document.querySelector('.block'), markup = arguments[0];
        block.dataset.path = markup; block.dataset.features = JSON.stringify({[markup]: markup}); block.focus();""",
        markup,
    )
    shown, features = panel(browser)
    assert (shown["path"], features) == (markup, {markup: markup})


def test_tab_goes_from_block_to_block(browser, views):
    open_page(browser, views["gold"])
    assert press(browser, Keys.TAB, Keys.TAB) == ["0", "1"]
    assert panel(browser)[0]["number"] == "1"


@pytest.mark.parametrize(("forth", "back"), [("j", "k"), (Keys.ARROW_DOWN, Keys.ARROW_UP)], ids=["letters", "arrows"])
def test_keys_step_through_blocks(browser, views, forth, back):
    open_page(browser, views["gold"])
    assert press(browser, forth, forth, back, back, back, back) == ["2", "3", "2", "1", "0", "0"]
    assert panel(browser)[0]["number"] == "0"


def test_view_opens_on_the_first_kept_block(browser, views):
    open_page(browser, views["bakery"], height=600)
    first = browser.execute_script("return document.querySelector('.block:not(.other)').dataset.number")
    top, bottom = box(browser, f"document.querySelector('.block[data-number=\"{first}\"]')")
    assert int(first) > 10
    assert 0 <= top < bottom <= 600
    assert press(browser, "j") == [first]
    open_page(browser, views["bakery"])
    assert press(browser, "k") == [str(int(first) - 1)]


def test_stepping_ends_at_the_last_block(browser, views):
    open_page(browser, views["gold"])
    last = len(blocks_in(browser)) - 1
    assert press(browser, *["j"] * (last + 5))[-1] == str(last)


def test_keys_step_through_disagreements(browser, views):
    open_page(browser, views["gold"])
    wanted = [block.get_dom_attribute("data-number") for block in blocks_in(browser, ":is(.missed, .extra)")]
    assert len(wanted) > 2
    focused = press(browser, *"n" * len(wanted), "n", *"p" * len(wanted))
    assert focused == [*wanted, wanted[-1], *wanted[-2::-1], wanted[0]]
    assert [int(number) for number in wanted] != list(range(int(wanted[0]), int(wanted[-1]) + 1))  # there is a gap


def test_stepping_scrolls_to_the_block(browser, views):
    open_page(browser, views["bakery"])
    press(browser, *["j"] * 120)
    top, bottom = box(browser, "document.activeElement")
    assert 0 <= top < bottom <= 900
    assert browser.execute_script("return scrollY") > 500


def test_panel_stays_visible(browser, views):
    open_page(browser, views["bakery"])
    browser.execute_script("scrollTo(0, 2000)")
    assert 0 <= box(browser, "document.querySelector('aside')")[0] < 100


def test_keys_with_a_modifier_are_left_to_the_browser(browser, views):
    open_page(browser, views["gold"])
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("j").key_up(Keys.CONTROL).perform()
    assert browser.execute_script("return document.activeElement.dataset.number ?? null") is None


# Two cleaners


def test_two_cleaners_are_side_by_side(browser, views):
    open_page(browser, views["against"])
    ours, theirs = (section.rect for section in browser.find_elements(By.TAG_NAME, "section"))
    assert ours["y"] == theirs["y"]
    assert ours["x"] + ours["width"] <= theirs["x"] + 1
    assert ours["width"] == pytest.approx(theirs["width"], abs=2)


def test_block_is_at_the_same_height_in_both_columns(browser, views):
    open_page(browser, views["against"])
    offsets = browser.execute_script("""
        const tops = [...document.querySelectorAll('section')].map(section =>
            [...section.querySelectorAll('.block')].map(block => block.getBoundingClientRect().top));
        return tops[0].map((top, at) => Math.abs(top - tops[1][at]));""")
    assert max(offsets) < 40


# Light, dark, narrow

# The contrast of an element's text to its background, by WCAG's formula. Backgrounds may be
# transparent, and so may elements: the opacity of an element mixes its text with the background.
CONTRAST = """
    const numbers = colour => { const found = colour.match(/[\\d.]+/g).map(Number); return [...found, 1].slice(0, 4); };
    const over = (top, share, below) => below.map((value, at) => share * top[at] + (1 - share) * value);
    const channel = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const contrast = element => {
        const chain = [];
        for (let at = element; at; at = at.parentElement) chain.unshift(getComputedStyle(at));
        let behind = [255, 255, 255], opacity = 1;
        for (const style of chain) {
            opacity *= parseFloat(style.opacity);
            const colour = numbers(style.backgroundColor);
            behind = over(colour, colour[3] * opacity, behind);
        }
        const ink = over(numbers(getComputedStyle(element).color), opacity, behind);
        const [dim, bright] = [light(ink), light(behind)].sort((a, b) => a - b);
        return (bright + 0.05) / (dim + 0.05);
    };
    return Math.min(...[...document.querySelectorAll(arguments[0])].map(contrast));
"""
SEEN = ["body", "h1", "header .soft", ".block.other", ".block.paragraph", ".block.missed", ".block.extra"]
SEEN += [".legend span", "aside dt", "aside dd", "aside td"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("selector", SEEN)
def test_text_has_enough_contrast(browser, views, scheme, selector):
    open_page(browser, views["turned"], scheme=scheme)
    press(browser, "j")
    assert browser.execute_script(CONTRAST, selector) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("label", ["header", "paragraph", "list", "continuation"])
def test_text_on_the_strongest_colour_has_enough_contrast(browser, views, scheme, label):
    open_page(browser, views["tea"], scheme=scheme)
    browser.execute_script("document.querySelector('.block').className = `block s9 ${arguments[0]}`", label)
    assert browser.execute_script(CONTRAST, f".block.s9.{label}") >= 4.5


def test_colour_schemes_are_dark_and_light(browser, views):
    shades = {}
    for scheme in ("light", "dark"):
        open_page(browser, views["tea"], scheme=scheme)
        colour = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        shades[scheme] = sum(map(int, colour.removeprefix("rgba(").split(",")[:3]))
    assert shades["dark"] < 150
    assert shades["light"] > 600


@pytest.mark.parametrize("name", ["tea", "bakery", "against", "hostile"])
def test_narrow_window_does_not_scroll_sideways(browser, views, name):
    open_page(browser, views[name], 400, 800)
    press(browser, "j")  # the panel is full
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400


def test_panel_is_visible_in_a_narrow_window(browser, views):
    open_page(browser, views["bakery"], 400, 800)
    press(browser, "j", "j")
    top, bottom = box(browser, "document.querySelector('aside')")
    assert top < 800
    assert bottom > 0


# The report of an evaluation


def test_report_opens_without_complaints(browser, report):
    open_page(browser, report)
    assert browser.title == browser.find_element(By.TAG_NAME, "h1").text == ALERT
    assert browser.execute_script("return document.scripts.length") == 0
    assert_quiet(browser)


def test_plots_are_loaded_and_have_descriptions(browser, report):
    open_page(browser, report)
    pictures = browser.execute_script(
        "return [...document.images].map(image => [image.complete, image.naturalWidth, image.width, image.alt])"
    )
    assert len(pictures) == 6  # labels, confusion, page types, learning curve, ablation, calibration
    assert all(complete and natural > 100 and width > 100 for complete, natural, width, _ in pictures)
    assert len({told for *_, told in pictures if len(told) > 10}) == 6


def test_report_links_to_the_views_of_its_worst_pages(browser, report):
    open_page(browser, report)
    names = [link.text for link in browser.find_elements(By.TAG_NAME, "a")]
    assert ALERT in names
    for name in names:
        browser.find_element(By.LINK_TEXT, name).click()
        assert blocks_in(browser)
        assert_quiet(browser)
        browser.back()


@pytest.mark.parametrize("width", [400, 1280])
def test_report_does_not_scroll_sideways(browser, report, width):
    open_page(browser, report, width, 800)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 500])
def test_tables_are_whole_in_a_narrow_window(browser, report, width):
    open_page(browser, report, width, 800)
    widths = "return [...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth)"
    assert set(browser.execute_script(widths)) == {0}
    titles = "return getComputedStyle(document.querySelector('.scroll td + td'), '::before').content"
    assert browser.execute_script(titles) == '"mean"'
    open_page(browser, report)
    assert browser.execute_script(titles) == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("selector", ["body", "p.note", "th", "td", "a", "figcaption"])
def test_report_has_enough_contrast(browser, report, scheme, selector):
    open_page(browser, report, scheme=scheme)
    assert browser.execute_script(CONTRAST, selector) >= 4.5
