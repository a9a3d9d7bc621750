"""Run the Python twins of the native core."""

from victorpy import columns as page_columns
from victorpy.features import table
from victorpy.model import encode as encoding
from victorpy.model.crf import tables
from victorpy.model.evidence import context, inputs, lexicon, net, trees
from victorpy.outputs import text as text_output
from victorpy.page import decode as decoding
from victorpy.page import parse as parsing
from victorpy.page import split as splitting


def without_core(monkeypatch):
    for module in (
        decoding,
        parsing,
        splitting,
        page_columns,
        tables,
        trees,
        lexicon,
        inputs,
        context,
        table,
        encoding,
        net,
        text_output,
    ):
        monkeypatch.setattr(module, "_native", None)
