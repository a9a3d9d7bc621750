"""The numbers that trees decide by: features of a block and of its neighbours, as a template names them."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns
from victorpy.columns.text import shifted
from victorpy.config import Config
from victorpy.encode import Encoder
from victorpy.errors import TemplateError
from victorpy.evidence.trees import Matrix
from victorpy.features import check_feature, find_feature, load_modules
from victorpy.template import Template, find_template, read_template


class Inputs:
    """Computes the numbers of a page's blocks: a row for each reference of the template."""

    def __init__(self, config: Config) -> None:
        load_modules(config)
        self.template = load_evidence_template(config)
        self._encoders = []
        for name in self.template.features:
            check_feature(config, name, "evidence-template")
            feature = find_feature(name)
            assert feature is not None  # check_feature has seen to it
            self._encoders.append(Encoder(name, feature))
        self._references = [line[0] for line in self.template.lines]

    @property
    def names(self) -> list[str]:
        """What the rows are called."""
        features = self.template.features
        return [f"{features[reference.feature]}[{reference.offset}]" for reference in self._references]

    def matrix(self, page: Columns) -> Matrix:
        """Compute the numbers."""
        rows = np.empty((len(self._references), page.count), dtype=np.float32)
        try:
            with np.errstate(all="ignore"):
                columns = [encoder.feature.column(page, encoder.name) for encoder in self._encoders]
            for row, reference in zip(rows, self._references, strict=True):
                row[:] = shifted(columns[reference.feature], reference.offset)
        except Exception:  # whatever a user's own feature may raise or give
            self._find_culprit(page)
            raise
        if not np.isfinite(rows).all():
            self._find_culprit(page)
        return rows

    def _find_culprit(self, page: Columns) -> None:
        """Compute the features one by one, with a look at each, until one is refused by name."""
        for encoder in self._encoders:
            encoder.raw(page)


def load_evidence_template(config: Config) -> Template:
    """Read the template that names the numbers."""
    path = find_template(config, "evidence-template", "evidence")
    template = read_template(path, None)
    if template.bigrams or any(len(line) > 1 for line in template.lines):
        raise TemplateError(
            f"{path}: a template of evidence has one %x[OFFSET,NAME] a line and no B: trees join features themselves"
        )
    if "evidence" in template.features:
        raise TemplateError(f"{path}: the feature 'evidence' is what the trees find: they cannot decide by it")
    return template
