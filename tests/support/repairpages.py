"""Random formulas, listings, media, quotes and style sheets, in the markup of many programs and beside it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

ATOMS = [
    "<mi>x</mi>",
    "<mn>2</mn>",
    "<mo>+</mo>",
    "<mo>∑</mo>",
    "<mi>sin</mi>",
    "<mi>area</mi>",
    "<mtext>if</mtext>",
    "<mi>α</mi>",
]
ATOMS += [
    "<mo>¯</mo>",
    "<mo>_</mo>",
    "<mo>′</mo>",
    "<mspace/>",
    "<none/>",
    "<mi>lim</mi>",
    "<mi></mi>",
    "<ms> </ms>",
    "<mi>ab c</mi>",
]
SHAPES = {
    **dict.fromkeys(["mfrac", "msup", "msub", "mroot", "munder", "mover"], (2, 2, 2, 1, 3)),
    **dict.fromkeys(["msubsup", "munderover", "mmultiscripts"], (3, 3, 2, 1)),
    **dict.fromkeys(["msqrt", "mrow", "mtr", "mtable", "mphantom", "mlabeledtr", "mtd"], (0, 1, 2, 3)),
    **dict.fromkeys(["semantics", "mfenced", "mfenced open='[' close=']' separators=';|'"], (0, 1, 2)),
}
TEX = [
    r"\(x^2\)",
    r"\[x_1\]",
    r"{\displaystyle R}",
    r"\displaystyle a b",
    "x < 1",
    "$y$",
    "",
    r"see \(a\) (1)",
    r"\(open",
    "<i>x</i>2",
]
HOLDERS = [
    *("<img class=latex alt='{}'>", "<img class='mwe-math-image' alt='{}'>", "<img class=latex-glove alt='{}'>"),
    *(
        "<span class='math inline'>{}</span>",
        "<span class='math display'>{}</span>",
        "<div class='math notranslate'>{}</div>",
    ),
    *("<span data-tex='{}'>x</span>", "<i data-math='{}' data-display=true></i>", "<script type=math/tex>{}</script>"),
    *(
        "<span class=MathJax_Preview>x</span><script type='math/tex; mode=display'>{}</script>",
        "<math alttext='{}'></math>",
    ),
    *("<math display=block><mi>x</mi><annotation encoding=TeX>{}</annotation></math>", "<span class=math>{}</span>"),
]
WRAPPERS = [
    "{}",
    "<span class=katex>{}<b aria-hidden=true>x</b></span>",
    "<div class='math-block'>{}</div>",
    "<p>{}</p>",
    "<li>{} a",
]
WRAPPERS += [
    "<mjx-container display=true>{}</mjx-container>",
    "<p>Let {} be.</p>",
    "<td>{}</td>",
    "<dd> {} </dd>",
    "<h2>{}</h2>",
]
LINES = [
    "<span class=line>a = {}</span>",
    "<span class='token-line'>b{}\n</span>",
    "<span class=line><br>c{}</span>",
    "d{}\n",
    "{}",
]
BESIDE = [
    *(
        "<span class=linenos>1</span>",
        "<span class='lnt'>2\n</span>",
        "<button>Copy</button>",
        "<div class=toolbar>Run</div>",
    ),
    *(
        "<span class='line-numbers-rows'>3</span>",
        "<clipboard-copy>x</clipboard-copy>",
        "<span class=line-one>y</span>",
        "",
    ),
]
LISTINGS = [
    *(
        "<pre>{}</pre>",
        "<pre><code>{}</code></pre>",
        "<div><div class=code-header>Go</div><pre>{}</pre></div>",
        "<p>{}</p>",
    ),
    *(
        "<table><tr><td class=gutter><pre>1\n2\n</pre></td><td class=code><pre>{}</pre></td></tr></table>",
        "<code>{}</code>",
    ),
    *(
        "<table><tr><td class=lnt>1</td><td><div><pre>{}</pre></div></td></tr></table>",
        "<ol class=linenums><li>{}</li><li>z\n</li></ol>",
    ),
    "<div class='syntaxhighlighter js'><table><td class=gutter>1"
    "<td class=code><div class='line x'>{}</div></table></div>",
    *(
        "<code style='white-space: pre'>{}</code>",
        "<code style='display:block'>{}</code>",
        "<ol class=code-lines><li>{}</ol>",
    ),
]
MEDIA = [
    *(
        "<iframe src='https://www.youtube.com/embed/x' title=Tea></iframe>",
        "<iframe src='//player.vimeo.com/v/1'></iframe>",
    ),
    *(
        "<iframe src='https://x.example/a'></iframe>",
        "<video aria-label=Pot><source src=/a.mp4></video>",
        "<audio data-src=/b.mp3></audio>",
    ),
    *(
        "<video></video>",
        "<picture><source srcset='/a.png 2x'><img alt=a></picture>",
        "<picture><source data-srcset=/b.png><img src='data:x'></picture>",
    ),
    *(
        "<picture><source srcset=/c.png><img src=/d.png></picture>",
        "<picture><source><img srcset=/e.png></picture>",
        "<ruby>茶<rt>ちゃ</rt></ruby>",
    ),
]
QUOTES = ["<q>{}</q>", "<q>“{}”</q>", "<q><b>{}</b></q>", "<q> {}<br></q>", "<q>{} <q>in {}</q></q>", "<q></q>", "«{}»"]
HEADS = [
    *(
        "<link rel=canonical href='{}'>",
        "<meta property=og:url content='{}'>",
        "<meta name=og:url content='{}'>",
        "<base href='{}'>",
    ),
    *(
        "<link rel='x canonical' href='{}'>",
        "<link rel=alternate href='{}'>",
        "<title>{}</title>",
        "<base><base href='{}'>",
    ),
]
ADDRESSES = ["https://tea.example/a", " http://tea.example/ b", "//tea.example/c", "/d", "", "HTTPS://tea.example/e"]
SELECTORS = [
    "p",
    "div",
    ".a",
    ".b",
    "#c",
    "div p",
    "div > p",
    ".a .b",
    "p.a",
    "div#c > .b",
    "p:hover",
    "*",
    "P",
    "div>p.a",
]
DECLARATIONS = [
    "display:none",
    "float: LEFT",
    "color:red",
    "position:fixed !important",
    "font-size:2em",
    "display:block",
    "visibility",
]
STYLED = ["div", "p", "div class=a", "p class='a b'", "div id=c", "p class=b style=top:1px"]
MEDIA_RULES = [
    "{}",
    "{}",
    "@media screen {{{}}}",
    "@media print {{{}}}",
    "@media (max-width: 9px) {{{}}}",
    "@supports (x) {{{}}}",
    "@font {{{}}}",
]


class RepairPage:
    """Makes formulas, pages and style sheets; equal seeds make equal ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def _pick(self, values: Sequence[T]) -> T:
        return values[self._chance.randrange(len(values))]

    def mathml(self, depth: int = 3) -> str:
        if not depth or self._chance.random() < 0.3:
            return self._pick(ATOMS)
        shape = self._pick(list(SHAPES))
        inner = "".join(self.mathml(depth - 1) for _ in range(self._pick(SHAPES[shape])))
        return f"<{shape}>{inner}</{shape.split()[0]}>"

    def html(self) -> str:
        makers = [self._formula, self._formula, self._listing, self._listing, self._media, self._quote]
        heads = "".join(self._pick(HEADS).format(self._pick(ADDRESSES)) for _ in range(self._chance.randrange(4)))
        return heads + "".join(self._pick(makers)() for _ in range(self._chance.randint(1, 6)))

    def _formula(self) -> str:
        tex = self._pick(TEX)
        return self._pick(WRAPPERS).format(self._pick([*HOLDERS, f"<math>{self.mathml(2)}</math>"]).format(tex))

    def _listing(self) -> str:
        parts = (self._pick([*LINES, *BESIDE]).format(self._pick("xyz")) for _ in range(self._chance.randint(1, 5)))
        return self._pick(LISTINGS).format("".join(parts))

    def _media(self) -> str:
        return self._pick(["{}", "<p>See {} here</p>"]).format(self._pick(MEDIA))

    def _quote(self) -> str:
        text = "tea"
        for _ in range(self._chance.randint(1, 6)):
            text = self._pick(QUOTES).format(text, "hot")
        return f"<p>She said {text}."

    def styled(self) -> str:
        """Return a page with a style sheet."""
        rules = []
        for _ in range(self._chance.randint(1, 7)):
            selectors = self._pick([", ", ","]).join(self._chance.sample(SELECTORS, self._chance.randint(1, 3)))
            declarations = ";".join(self._chance.sample(DECLARATIONS, self._chance.randint(1, 3)))
            rules.append(self._pick(MEDIA_RULES).format(f"{selectors} {{ {declarations} }}"))
        sheet = self._pick(["<style>{}</style>", "<style media=print>{}</style>", "<style><!-- {} --></style>"]).format(
            "/* a */".join(rules)
        )
        body = "".join(f"<{self._pick(STYLED)}>" for _ in range(self._chance.randint(1, 6)))
        return sheet + body
