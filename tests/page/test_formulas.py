import time

import pytest
from lxml import etree
from markdown_it import MarkdownIt

import victorpy
from victorpy import load_config, read_document
from victorpy.page.formulas import mathml_to_tex

MATHML = '<math xmlns="http://www.w3.org/1998/Math/MathML"{}>{}</math>'


def blocks(html):
    return [block.text for block in read_document(html, load_config("blocks")).blocks]


def tex(inner):
    (text,) = blocks(f"<p>So {MATHML.format('', inner)} holds.")
    return text.removeprefix("So $").removesuffix("$ holds.")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math>', "$x^2$"),
        ('<math alttext="x_1"><mi>x</mi></math>', "$x_1$"),
        ('<math display="block" alttext="x"></math>', "$$x$$"),
        ('<script type="math/tex">x</script>', "$x$"),
        ('<script type="math/tex; mode=display">x</script>', "$$x$$"),
        ('<span class="MathJax_Preview">x2</span><script type="math/tex">x^2</script>', "$x^2$"),
        ('<span class="katex"><math alttext="x"/><span aria-hidden="true">x</span></span>', "$x$"),
        ('<mjx-container display="true"><mjx-math>?</mjx-math><math><mi>x</mi></math></mjx-container>', "$$x$$"),
        (r'<img class="latex" alt="\displaystyle \frac12">', r"$\frac12$"),
        ('<span class="mwe-math-element"><math alttext="R"/><img class="mwe-math-image" alt="R"></span>', "$R$"),
        ('<span data-tex="x^2"><i>x</i>2</span>', "$x^2$"),
        (r'<span class="math inline">\(x\)</span>', "$x$"),
        (r'<span class="math display">\[x\]</span>', "$$x$$"),
        (r'<span class="math inline">\(x\) (1)</span>', "$x$"),  # without the number of an equation
    ],
)  # fmt: skip
def test_tex_of_common_renderers_is_part_of_the_paragraph(html, text):
    assert blocks(f"<p>Let {html} be.</p>") == [f"Let {text} be."]


@pytest.mark.parametrize(
    "html",
    [
        '<span class="math inline"><i>x</i> is set in italics</span>',
        "I like math and $5 notes.",
        '<img class="latex-glove" alt="A glove">',
        "<script>math = 1</script>text",
    ],
)
def test_text_that_is_no_formula_is_unchanged(html):
    assert "$$" not in "".join(blocks(f"<p>{html}</p>"))


def test_empty_formula_leaves_nothing():
    assert blocks("<p>Let <math></math> be.") == ["Let be."]


def test_formula_alone_in_its_paragraph_is_displayed_but_not_in_a_cell():
    formula = '<math alttext="x"/>'
    assert blocks(f"<p>{formula}</p><table><tr><td>{formula}</td></tr></table>") == ["$$x$$", "$x$"]


@pytest.mark.parametrize(
    ("mathml", "expected"),
    [
        ("<mfrac><mn>1</mn><mi>n</mi></mfrac>", r"\frac{1}{n}"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", r"\sqrt{a + b}"),
        ("<mroot><mi>a</mi><mn>3</mn></mroot>", r"\sqrt[3]{a}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<msup><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></msup>", "{a + 1}^{2}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", r"\sum_{i}^{n} i"),
        ("<munder><mi>lim</mi><mi>n</mi></munder>", r"\lim_{n}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", r"\bar{x}"),
        ("<mover><mi>x</mi><mi>!</mi></mover>", r"\overset{!}{x}"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mi>Γ</mi><mo>≤</mo><mi>λ</mi><mo>⁢</mo><mi>ℝ</mi>", r"\Gamma \le \lambda \mathbb{R}"),
        ("<mi>sin</mi><mi>area</mi><mtext>if odd</mtext>", r"\sin \mathrm{area} \text{if odd}"),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>",
            r"\begin{matrix} a & b \end{matrix}",
        ),
        ("<mfrac><mn>1</mn></mfrac><msub/>", "1"),  # damaged
        ("<mover><mi>x</mi></mover><munder/><munderover><mi>y</mi></munderover>", "x y"),
        ("<mi>a<!--c-->b<script>d</script>e</mi>", r"\mathrm{abe}"),
    ],
)
def test_mathml_without_tex_is_converted(mathml, expected):
    assert tex(mathml) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<mrow>" * 2_000 + "<mi>x</mi>",
        "<p>" + "<math><mi>x</mi></math>" * 30_000,
        "<math>" * 2_000 + "x",
        "<p>" + '<span class="katex">' * 400 + "<math><mi>x</mi></math>" * 5_000,
        '<p><math alttext="&#1;&#x1b;\x01x"></math><ol class="linenums"><li><code>\x01&#2;</code></ol><m<><math><m<>',
        '<span class="MathJax">x</span>' * 20_000 + '<script type="math/tex">x</script>' * 2_000,
    ],
)
def test_hostile_formulas_take_linear_time(html):
    started = time.process_time()
    blocks(f"<math>{html}" if html.startswith("<mrow>") else html)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("$a_i * b_i * c$", "$a_i * b_i * c$"),
        ("$$x_1 < x_2$$", "$$x_1 < x_2$$"),
        (r"\(a*b*c\)", r"\(a*b*c\)"),
        ("*5* costs $5 or *less*, *more* costs $10", r"\*5\* costs $5 or \*less\*, \*more\* costs $10"),
    ],
)
def test_markdown_escapes_nothing_inside_formulas(text, markdown):
    html = f"<p>{text.replace('<', '&lt;')}: this is a long enough sentence about tea, water and the price of both.</p>"
    written = victorpy.clean(html, format="markdown")
    assert written.startswith(f"{markdown}: this is")
    assert "<em>" not in MarkdownIt().render(written.partition(": ")[2])


@pytest.mark.parametrize(("rows", "expected"), [(59, r"\frac{a}{b}"), (60, "ab")])
def test_mathml_is_converted_to_a_depth_of_60(rows, expected):
    mathml = f"<math>{'<mrow>' * rows}<mfrac><mi>a</mi><mi>b</mi></mfrac>{'</mrow>' * rows}</math>"
    assert mathml_to_tex(etree.fromstring(mathml)) == expected
