"""Generate pages: soups of tags, and nested elements with odd text between them."""

from __future__ import annotations

import html

from hypothesis import strategies as st
from lxml import etree

from victorpy import Config, Document
from victorpy.page.decode import decode
from victorpy.page.parse import parse

# Pieces of valid and broken markup.
SOUP = [
    *("tea", "two words", " ", "\n", "\r\n", "\t", "  lead", "trail  ", "é", "茶", "\u3000", "\xa0", "\x0b", "\x1f"),
    *("\x85", "\u2028", "\x00", "&amp;", "&nbsp;", "&lt;", "&#13;", "&#150;", "&#xD800;", "&", "<", ">", '"', "'", "="),
    *("<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<i>", "</i>", "<a href='/x'>", "</a>", "<br>", "<hr/>"),
    *("<pre>", "</pre>", "<ul>", "<li>", "</ul>", "<h1>", "</h1>", "<table>", "<tr>", "<td>", "</td>", "</table>"),
    *("<img alt='a  cat'>", "<img alt=''>", "<img hidden alt=x>", "<img alt='&lt;b&gt;'>", "<img src=x>", "<wbr>"),
    *("<span hidden>", "</span>", "<div aria-hidden='true'>", "<p style='display: none'>", "<p class='a\t\"&amp;'>"),
    *("<x-y>", "</x-y>", "<a:b>", "<br<p>", "<p <b>", "</", "/>", "<!--", "-->", "<!", "<?", "?>", "<![CDATA[", "]]>"),
    *("<script>", "</script>", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>", "<svg>"),
    *("<noscript>", "</noscript>", "<text id='u' title='t'>", "</text>", "<select><option>", "<form>", "<frameset>"),
    *("<html>", "<head>", "</head>", "<body>", "</body>", "</html>", "<plaintext>", "<embed>", "<dl><dt>"),
    "<input value=v>",
]
soup = st.lists(st.sampled_from(SOUP), max_size=30).map("".join)

BLOCK_TAGS = ["div", "p", "ul", "li", "td", "table", "section", "blockquote", "pre", "h2", "noscript"]
INLINE_TAGS = ["a", "b", "i", "span", "u", "sub", "x-own"]
ATTRIBUTES = ["", " class='tea pot'", " hidden", " style='display:none'", " aria-hidden=true", " id='a&amp;b'"]
GAPS = ["", " ", "\n", " \t ", "<br>", "<br> <br>", "<wbr>", "<!-- no -->", "<hr>", "<img src=x>", "<script>0</script>"]


def element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags, attributes = st.sampled_from(BLOCK_TAGS + INLINE_TAGS), st.sampled_from(ATTRIBUTES)
    children = st.lists(inside, max_size=5).map("".join)
    return st.builds(lambda tag, more, text: f"<{tag}{more}>{text}</{tag}>", tags, attributes, children)


texts = st.text(alphabet="ab.,'<&é茶 \n\t\xa0", max_size=12).map(html.escape)
alts = texts.map(lambda text: f'<img alt="{text}">')
nested = st.recursive(texts | alts | st.sampled_from(GAPS), element, max_leaves=25)
pages = soup | nested


def parsed_texts(page: bytes | str, config: Config) -> list[str]:
    """Return the texts of the parsed page in order, including ``alt`` texts. Blocks must consist of them."""
    root = parse(decode(page).text, delete=config.get("tag-delete")).root
    texts: list[str | None] = []
    for event, element in etree.iterwalk(root, events=("start", "end")) if root is not None else ():
        texts += [element.get("alt") if element.tag == "img" else "", element.text] if event == "start" else []
        texts += [element.tail] if event == "end" else []
    return [text for text in texts if text]


def squeezed(document: Document) -> str:
    return "".join("".join(block.text.split()) for block in document.blocks)


def words_of(document: Document) -> list[str]:
    return [word for block in document.blocks for word in block.text.split()]
