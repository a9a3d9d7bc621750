"""Snapshots of formulas: the TeX of every symbol, function and accent."""

from lxml import etree
from support.snapshots import check

from victorpy.page.formulas import mathml_to_tex

SYMBOLS = "−′″‴∗×÷±∓⋅·∘≤≥≠≈≡∼≃≅∝≪≫∞∂∇∑∏∫∬∭∮√∈∉∋⊂⊆⊃⊇∪∩⋃⋂∅∖∀∃¬∧∨⇒⇐⇔→←↔↦⟶↑↓…⋯⋮⋱ℓℏℵℝℕℤℚℂ⟨⟩⌊⌋⌈⌉‖∥⊥∣⊕⊗°{}%#$_⁢⁡⁣⁤\xa0"
FUNCTIONS = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim ln log max min Pr sec sin "
    "sinh sup tan tanh tea"
).split()
ACCENTS = "¯‾^ˆ~˜→⃗˙¨⏞⏟_̲x"
LIMITS = "∑∏∫∬∭∮⋃⋂+"


def tex(markup):
    return mathml_to_tex(etree.fromstring(f"<math>{markup}</math>"))


def test_tex_of_formulas():
    """Covers _SYMBOLS, _FUNCTIONS, _ACCENTS and _OPERATORS_WITH_LIMITS."""
    check("formulas", "symbols", {char: tex(f"<mi>a</mi><mo>{char}</mo><mi>b</mi>") for char in SYMBOLS})
    check("formulas", "functions", {name: tex(f"<mi>{name}</mi><mi>x</mi>") for name in FUNCTIONS})
    accents = {char: f"<mi>a</mi><mo>{char}</mo>" for char in ACCENTS}
    check("formulas", "accents above", {char: tex(f"<mover>{inside}</mover>") for char, inside in accents.items()})
    check("formulas", "accents below", {char: tex(f"<munder>{inside}</munder>") for char, inside in accents.items()})
    operators = [
        *(f"<mo>{char}</mo>" for char in LIMITS),
        *(f"<mi>{name}</mi>" for name in "lim max min sup inf sin".split()),
    ]
    parts = [(operator, f"{operator}<mn>1</mn>") for operator in operators]
    check("formulas", "limits", {operator: tex(f"<munder>{inside}</munder><mi>n</mi>") for operator, inside in parts})
