"""Replace formulas with their TeX, as text between dollar signs.

From then on, a formula is normal text: it is part of its paragraph, and every output format contains it. The TeX that
MathJax, KaTeX, MediaWiki, LaTeXML, WordPress, Pandoc and Sphinx write into a page is used. MathML without TeX is
converted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import islice

from lxml import etree

from victorpy.base.unicode import xml_text

# Class names of formulas, by tag. The empty tag stands for all other elements.
_CLASSES = {
    "img": re.compile(r"(?<!\S)latex(?!\S)|mwe-math|math notranslate"),
    "span": re.compile(r"math (?:inline|display|notranslate)"),
    "": re.compile(r"math notranslate"),
}
# Matches class names of elements that contain a formula and its rendered copies.
_WRAPPER = re.compile(r"(?<!\S)(?:katex|mwe-math|MathJax)|(?<!\S)math-(?:block|display)")
_PREVIEW = re.compile(r"(?<!\S)(?:MathJax|mjx-)")
_DISPLAYED = re.compile(r"display|block")
_DELIMITED = re.compile(r"\\\((?P<inline>.*)\\\)|\\\[(?P<display>.*)\\\]", re.DOTALL)
_DISPLAY_STYLE = re.compile(r"\{\s*\\displaystyle\b\s*(.*)\}|\\displaystyle\b\s*(.*)", re.DOTALL)
_ALONE_IN = frozenset(["p", "dd", "div", "figure", "center", "li"])
_MARKED = ("data-math", "data-tex", "data-latex")
_MARKED_NAMES = frozenset(_MARKED)
FORMULA_ATTRIBUTES = _MARKED_NAMES | {"data-display"}
"""Attributes that contain a formula or control how it is displayed."""
_NOT_PARSED = ("script", "style", "svg")
_MAX_WRAPPERS = 8
_MAX_DEPTH = 60


def write_formulas(root: etree._Element) -> None:
    """Replace the formulas of a page with ``$...$``, or with ``$$...$$`` if they are displayed on separate lines."""
    replaced: set[etree._Element] = set()
    for node in [*filter(_is_formula, root.iter(etree.Element))]:
        if node in replaced:
            continue
        wrapper = node
        for ancestor in islice(node.iterancestors(), _MAX_WRAPPERS):
            if _WRAPPER.search(ancestor.get("class", "")) or ancestor.tag.startswith("mjx-"):
                wrapper = ancestor
        after = None if wrapper.tag == "script" or (wrapper.tail or "").strip() else wrapper.getnext()
        if after is not None and after.tag == "script" and after.get("type", "").startswith("math/tex"):
            continue  # in MathJax 2, the TeX follows the rendered formula
        tex, has_display_delimiters = _clean(_tex(node))
        if not tex and node.tag != "math":
            continue  # the class name has another meaning here
        is_displayed = has_display_delimiters or _is_displayed(node, wrapper) or _is_alone(wrapper)
        sibling = wrapper.getprevious() if wrapper.tag == "script" else None
        while sibling is not None and _PREVIEW.search(sibling.get("class", "")) and not (sibling.tail or "").strip():
            _replace(sibling, "")
            sibling = sibling.getprevious()
        mark = "$$" if is_displayed else "$"
        replaced.update(wrapper.iter())
        _replace(wrapper, f"{mark}{tex}{mark}" if tex else "")


def _replace(element: etree._Element, text: str) -> None:
    """Replace the content of an element with a text, and remove its attributes."""
    element.clear(keep_tail=True)  # type: ignore[call-arg]
    element.tag = "div" if element.tag == "div" else "span"
    element.text = xml_text(text)


def _is_formula(node: etree._Element) -> bool:
    """Whether an element may be a formula. An XPath expression with these conditions takes four times as long."""
    tag, attributes = node.tag, node.keys()
    if tag == "math" or not attributes:
        return tag == "math"
    if tag == "script" and node.get("type", "").startswith("math/tex"):
        return True
    name = node.get("class", "")
    if ("math" in name or "latex" in name) and _CLASSES.get(tag, _CLASSES[""]).search(name):
        return True
    return not _MARKED_NAMES.isdisjoint(attributes)


def _text(node: etree._Element) -> str:
    """Return the text of an element, without scripts, style sheets and drawings in it, which may not be parsed."""
    if next(node.iterdescendants(*_NOT_PARSED), None) is None:
        return "".join(map(str, node.itertext()))
    texts = []
    walk = etree.iterwalk(node, ("start", "end", "comment", "pi"))
    for event, element in walk:
        if event != "start":
            texts.append((element.tail or "") if element is not node else "")
        elif element is not node and element.tag in _NOT_PARSED and not _is_formula(element):
            walk.skip_subtree()
        else:
            texts.append(element.text or "")
    return "".join(texts)


def _tex(node: etree._Element) -> str:
    for name in (*_MARKED, "alttext"):
        if node.get(name):
            return node.get(name, "")
    if node.tag == "img":
        return node.get("alt", "")
    if node.tag != "math":
        text = _text(node)
        # There may be an equation number beside the formula. If the first delimiter has no partner, neither have later
        # ones.
        starts = (start for start in (text.find(r"\("), text.find(r"\[")) if start >= 0)
        delimited = next(filter(None, (_DELIMITED.match(text, start) for start in starts)), None)
        if delimited:
            return delimited[0]
        # Formulas made of italics and superscripts stay as they are.
        return text if not len(node) or "\\" in text else ""
    for annotation in node.iter("annotation"):
        if "tex" in annotation.get("encoding", "").lower():
            return annotation.text or ""
    return mathml_to_tex(node)


def _clean(tex: str) -> tuple[str, bool]:
    r"""Return TeX without delimiters, and whether these were delimiters of a displayed formula.

    >>> _clean(r"{\displaystyle R}"), _clean(r"\[ 2^t \]")
    (('R', False), ('2^t', True))
    """
    tex = " ".join(tex.split())
    delimited = _DELIMITED.fullmatch(tex)
    if delimited:
        tex = delimited["inline"] or delimited["display"] or ""
    style = _DISPLAY_STYLE.fullmatch(tex.strip())
    if style:
        tex = style[1] or style[2] or ""
    return tex.strip().strip("$"), bool(delimited and delimited["display"])


def _is_displayed(node: etree._Element, wrapper: etree._Element) -> bool:
    if node.get("display") == "block" or "mode=display" in node.get("type", ""):
        return True
    for element in {node, wrapper}:
        if element.get("display") == "true" or element.get("data-display") == "true":
            return True
        if element.tag != "math" and _DISPLAYED.search(element.get("class", "")):
            return True
    return False


def _is_alone(wrapper: etree._Element) -> bool:
    """Whether a paragraph contains nothing but a formula."""
    parent = wrapper.getparent()
    return (
        parent is not None
        and parent.tag in _ALONE_IN
        and parent[0] is wrapper
        and wrapper.getnext() is None
        and not (parent.text or "").strip()
        and not (wrapper.tail or "").strip()
    )


_FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim ln log max min Pr sec"
    " sin sinh sup tan tanh".split()
)
_SYMBOLS = {
    **{"−": "-", "′": "'", "″": "''", "‴": "'''", "∗": "*", "⁢": "", "⁡": "", "⁣": "", "⁤": "", "\u00a0": " "},
    **{"×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "⋅": r"\cdot", "·": r"\cdot", "∘": r"\circ"},
    **{"≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "≃": r"\simeq"},
    **{"≅": r"\cong", "∝": r"\propto", "≪": r"\ll", "≫": r"\gg", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla"},
    **{"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "√": r"\surd"},
    **{"∈": r"\in", "∉": r"\notin", "∋": r"\ni", "⊂": r"\subset", "⊆": r"\subseteq", "⊃": r"\supset"},
    **{"⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap", "⋃": r"\bigcup", "⋂": r"\bigcap", "∅": r"\emptyset"},
    **{"∖": r"\setminus", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\land", "∨": r"\lor"},
    **{"⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "→": r"\to", "←": r"\leftarrow"},
    **{"↔": r"\leftrightarrow", "↦": r"\mapsto", "⟶": r"\longrightarrow", "↑": r"\uparrow", "↓": r"\downarrow"},
    **{"…": r"\dots", "⋯": r"\cdots", "⋮": r"\vdots", "⋱": r"\ddots", "ℓ": r"\ell", "ℏ": r"\hbar", "ℵ": r"\aleph"},
    **{"ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}"},
    **{"⟨": r"\langle", "⟩": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil"},
    **{"‖": r"\|", "∥": r"\parallel", "⊥": r"\perp", "∣": r"\mid", "⊕": r"\oplus", "⊗": r"\otimes", "°": r"^\circ"},
    **{"{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "_": r"\_"},
}
_ACCENTS = {
    **{"¯": r"\bar", "‾": r"\overline", "^": r"\hat", "ˆ": r"\hat", "~": r"\tilde", "˜": r"\tilde"},
    **{"→": r"\vec", "⃗": r"\vec", "˙": r"\dot", "¨": r"\ddot", "⏞": r"\overbrace", "⏟": r"\underbrace"},
    **{"_": r"\underline", "̲": r"\underline"},
}
_OPERATORS_WITH_LIMITS = re.compile(r"\\(?:sum|prod|int|iint|iiint|oint|bigcup|bigcap|lim|max|min|sup|inf)$")


def mathml_to_tex(node: etree._Element, depth: int = 0) -> str:
    r"""Convert presentation MathML to TeX.

    >>> fraction = "<math><mfrac><mi>a</mi><msup><mi>t</mi><mn>2</mn></msup></mfrac><mo>≤</mo><mi>π</mi></math>"
    >>> mathml_to_tex(etree.fromstring(fraction))
    '\\frac{a}{t^{2}} \\le \\pi'
    """
    if depth > _MAX_DEPTH:
        return " ".join(_text(node).split())
    tag = re.split("[}:]", node.tag)[-1]
    if tag in {"mi", "mn", "mo", "mtext", "ms"}:
        return _token(tag, " ".join(_text(node).split()))
    children = [child for child in node if isinstance(child.tag, str) and child.tag not in _NOT_PARSED]
    parts = [mathml_to_tex(child, depth + 1) for child in children]
    if tag in _SHAPES and len(parts) == len(_SHAPES[tag][1]):
        return _SHAPES[tag][0].format(*parts)
    match tag, parts:
        case "msub" | "msup" | "msubsup" | "mmultiscripts", [base, *scripts]:
            marks = "^" if tag == "msup" else "_^"
            is_one = re.fullmatch(r"\\?\w*|\(.*\)|[()\[\]|]", base)
            return (base if is_one else f"{{{base}}}") + _scripts(marks, scripts)
        case "munder" | "mover" | "munderover", [base, *limits] if limits:
            if _OPERATORS_WITH_LIMITS.search(base) or tag == "munderover":
                return base + _scripts("^" if tag == "mover" else "_^", limits)
            accent = _ACCENTS.get(_text(node[-1]).strip())
            over = r"\overset" if tag == "mover" else r"\underset"
            return f"{accent}{{{base}}}" if accent else f"{over}{{{limits[0]}}}{{{base}}}"
        case "msqrt", _:
            return rf"\sqrt{{{_join(parts)}}}"
        case "mtable", _:
            return r"\begin{matrix} " + r" \\ ".join(parts) + r" \end{matrix}"
        case "mtr" | "mlabeledtr", _:
            return " & ".join(parts)
        case "mfenced", _:
            separator = f"{node.get('separators', ',')[:1]} "
            return f"{node.get('open', '(')}{separator.join(parts)}{node.get('close', ')')}"
        case "semantics", [first, *_]:
            return first
        case "mspace" | "annotation" | "annotation-xml" | "mphantom" | "none" | "mprescripts", _:
            return ""
    return _join(parts)


_SHAPES = {"mfrac": (r"\frac{{{0}}}{{{1}}}", "ab"), "mroot": (r"\sqrt[{1}]{{{0}}}", "ab")}


def _scripts(marks: str, scripts: Iterable[str]) -> str:
    written = ""
    for mark, script in zip(marks, scripts, strict=False):
        if script in {"'", "''", "'''"}:
            written += script
        elif script:
            written += f"{mark}{{{script}}}"
    return written


def _join(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)


def _token(tag: str, text: str) -> str:
    if not text:
        return ""
    if tag in {"mtext", "ms"}:
        return rf"\text{{{text}}}" if text.strip() else ""
    if text in _FUNCTIONS:
        return f"\\{text}"
    if tag == "mi" and len(text) > 1 and text.isalpha() and text.isascii():
        return rf"\mathrm{{{text}}}"
    return " ".join(map(_symbol, text)) if tag == "mo" else "".join(map(_symbol, text))


@cache
def _symbol(char: str) -> str:
    if char.isascii() and char.isalnum():
        return char
    if char in _SYMBOLS:
        return _SYMBOLS[char]
    plain = unicodedata.normalize("NFKC", char)  # mathematical letters such as 𝛼
    name = unicodedata.name(plain, "") if len(plain) == 1 else ""
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name)
    if not greek:
        return plain
    letter = greek[2].lower().replace("lamda", "lambda")
    return f"\\{letter.capitalize() if greek[1] == 'CAPITAL' else letter}"
