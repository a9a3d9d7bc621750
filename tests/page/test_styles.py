"""Style sheets: rules become style attributes of the elements that they select."""

import pytest
from lxml import html as lxml_html

from victorpy import ConfigError, load_config, read_document
from victorpy.columns import Columns
from victorpy.config import read_config
from victorpy.features import find_feature
from victorpy.page import styles
from victorpy.page.styles import inline_styles

PAGE = "<div id=top class='menu wide'><ul><li class=item>Tea</li></ul><p style='float:left'>Text</p></div>"


def style_of(css, path, page=PAGE, sheets=()):
    root = lxml_html.document_fromstring(f"<html><head><style>{css}</style></head><body>{page}</body></html>")
    inline_styles(root, sheets)
    return root.find(f".//{path}").get("style")


@pytest.mark.parametrize(
    ("css", "path", "expected"),
    [
        ("li { display: none }", "li", "display:none"),
        ("LI{Display:NONE;color:red}", "li", "display:none"),
        (".item{float:right}", "li", "float:right"),
        ("li.item{float:right}", "li", "float:right"),
        ("p.item{float:right}", "li", None),
        ("#top{position:fixed}", "div", "position:fixed"),
        (".menu.wide{position:fixed}", "div", "position:fixed"),
        (".menu.narrow{position:fixed}", "div", None),
        (".menu li{display:none}", "li", "display:none"),
        (".menu > li{display:none}", "li", None),
        (".menu>ul>li{display:none}", "li", "display:none"),
        ("#top .item, .other{display:none}", "li", "display:none"),
        (".other .item{display:none}", "li", None),
        ("li:hover{display:none}", "li", None),
        ("*{display:none} a[href]{display:none} ul+p{display:none}", "p", "float:left"),
        ("li{display:none} .item{display:block}", "li", "display:block"),
        (".item{display:block} li{display:none}", "li", "display:block"),
        ("li{display:block} li{display:none}", "li", "display:none"),
        ("li{display:none!important} .item{display:block}", "li", "display:none"),
        ("p{float:right}", "p", "float:right;float:left"),
        ("/* li{display:none} */ li{float:left}", "li", "float:left"),
        ("@media print{li{display:none}}", "li", None),
        ("@media (max-width: 600px){li{display:none}}", "li", None),
        ("@media screen{li{display:none}} .x{}", "li", "display:none"),
        ("@media screen{.x{float:left}} li{display:none}", "li", "display:none"),
        ("@import 'x.css'; li{display:none}", "li", "display:none"),
        ("@font-face{font-size:1px} @keyframes k{from{display:none}}", "li", None),
        ("li{color:red}", "li", None),
        ("li{display:none", "li", None),
        ("}}}} li{display:none}", "li", "display:none"),
        ("", "li", None),
    ],
)
def test_rules_apply_in_the_order_of_css(css, path, expected):
    assert style_of(css, path) == expected


def test_given_sheets_come_before_the_page():
    assert style_of("li{display:block}", "li", sheets=["li{display:none}"]) == "display:block"
    assert style_of("", "li", sheets=["li{display:none}"]) == "display:none"


def test_style_elements_for_print_are_ignored():
    root = lxml_html.document_fromstring("<style media=print>p{display:none}</style><p>Tea")
    inline_styles(root)
    assert root.find(".//p").get("style") is None


def test_number_of_rules_and_comparisons_is_limited(monkeypatch):
    monkeypatch.setattr(styles, "MOST_RULES", 1)
    assert style_of("li{float:left} li{display:none}", "li") == "float:left"
    for most, style in ((1, "float:left"), (0, None)):
        monkeypatch.setattr(styles, "MOST_COMPARISONS", most)
        assert style_of("li{float:left}", "li") == style


def config_with(directory, *lines):
    path = directory / "my.conf"
    path.write_text("\n".join(["include default", *lines, ""]), encoding="utf-8")
    return read_config(path)


def columns(page, config):
    return Columns(read_document(page, config), config)


def values(name, page):
    return find_feature(name).column(page, name).tolist()


STYLED = (
    "<style>.x{display:none} aside{float:right;font-size:50%} nav{position:fixed} .pop{position:absolute}</style>"
    "<nav>Home</nav><p>Tea is a hot drink.</p><p class=x>Secret</p><aside>Ad <b>now</b></aside><div class=pop>Buy</div>"
)


def test_style_features_see_style_sheets(tmp_path):
    page = columns(STYLED, config_with(tmp_path, "style-sheets: inline"))
    assert page.texts == ["Home", "Tea is a hot drink.", "Secret", "Ad now", "Buy"]
    assert values("style.hidden", page) == [0, 0, 1, 0, 0]
    assert values("hidden", page) == [0, 0, 1, 0, 0]
    assert values("style.floated", page) == [0, 0, 0, 1, 0]
    assert values("style.fixed", page) == [1, 0, 0, 0, 0]
    assert values("style.absolute", page) == [0, 0, 0, 0, 1]
    assert values("style.font-size", page) == [1, 1, 1, 0.5, 1]


def test_style_sheets_are_ignored_by_default():
    page = columns(STYLED, load_config("default"))
    assert values("style.hidden", page) == values("style.floated", page) == values("hidden", page) == [0] * 5


def test_css_files_beside_the_config_are_used(tmp_path):
    (tmp_path / "site.css").write_text("p{position:fixed}", encoding="utf-8")
    page = columns("<p>Tea", config_with(tmp_path, "style-sheets: inline", "style-files: site.css"))
    assert values("style.fixed", page) == [1]


def test_a_missing_css_file_is_a_config_error(tmp_path):
    config = config_with(tmp_path, "style-sheets: inline", "style-files: nix.css")
    with pytest.raises(ConfigError, match=r"my\.conf:3: style-files: no file 'nix\.css' beside the config"):
        read_document("<p>Tea", config)


def test_an_unknown_value_of_style_sheets_is_a_config_error(tmp_path):
    with pytest.raises(ConfigError, match=r"my\.conf:2: style-sheets: must be one of ignore, inline"):
        config_with(tmp_path, "style-sheets: on")


@pytest.mark.parametrize(
    ("style", "size"),
    [("font-size:24px", 1.5), ("font-size:2em", 2), ("font-size: 9pt", 0.75), ("FONT-SIZE:X-LARGE", 1.5),
     ("font-size:12pt", 1), ("font-size:50%", 0.5), ("font-size:3ex", 1.5), ("font-size:2rem", 2), ("font-size:4vw", 4),
     ("font-size:1px;font-size:32px", 2), ("font-size:0.1px", 0.1), ("font-size:xx-small", 0.6),
     ("font-size:small", 0.89), ("font-size:medium", 1), ("font-size:large", 1.2), ("font-size:xx-large", 2),
     ("font-size:inherit", 1), ("font-size:.", 1), ("font-size:calc(1px)", 1), ("font-size:999999px", 10)],
)  # fmt: skip
def test_font_size_is_relative_to_the_most_common_size(style, size):
    page = columns(f"<p>Tea is a hot drink.</p><p style='{style}'>Tea</p>", load_config("default"))
    assert values("style.font-size", page) == [1, size]


def test_headings_have_the_sizes_of_browsers():
    sizes = {"h1": 2, "h2": 1.5, "h3": 1.17, "h4": 1, "h5": 0.83, "h6": 0.67, "small": 0.83, "big": 1.2}
    page = columns(
        "<p>Tea is a hot drink.</p>" + "".join(f"<div><{tag}>Tea</{tag}></div>" for tag in sizes),
        load_config("default"),
    )
    assert values("style.font-size", page) == [1, *sizes.values()]
    nested = columns("<p>Tea is a hot drink.</p><h1><small>Tea</small></h1>", load_config("default"))
    assert values("style.font-size", nested) == [1, 1.66]


def test_size_of_the_whole_page_is_inherited():
    page = columns(
        "<html style='font-size:32px'><p>Tea is a hot drink.<p style='font-size:16px'>Tea", load_config("default")
    )
    assert values("style.font-size", page) == [1, 0.5]
