"""Snapshots of how the pages of sites are divided, and of style trees as text and HTML."""

import pytest
from support.randompages import site as random_site
from support.snapshots import check, digest

from victorpy import load_config, read_document
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.research.report import style_tree
from victorpy.research.site_runs import Plan, share_out


def test_shares_of_sites_are_the_same_in_every_run():
    plans = [Plan(sample, tune, seed) for sample, tune in ((1, 0), (1, 1), (4, 2), (500, 3)) for seed in (1, 2)]
    found = {
        f"{plan.sample} {plan.tune} {plan.seed}": str(
            [share_out(count, plan, "tea.example") for count in (1, 2, 3, 6, 9)]
        )
        for plan in plans
    }
    check("shares", "of sites", found)


@pytest.mark.parametrize("number", range(30, 36))
def test_style_trees_of_random_sites(number):
    pages = random_site(number, 2 + number % 5)
    if number == 35:  # more children than are shown, and levels that are closed
        pages = [f"{'<div>' * 20}{''.join(f'<p class=c{n}>tea {n}' for n in range(70))}" for _ in range(3)]
    labeller = SiteStyleTree().fit([read_document(page, load_config("blocks")) for page in pages])
    tree, judgement = labeller.tree_, labeller.judgement_
    found = {f"text {full}": digest(style_tree.as_text(tree, judgement, full)) for full in (False, True)}
    found |= {f"html {full}": digest(style_tree.as_html(tree, judgement, "Tea", full)) for full in (False, True)}
    check("style-trees", f"site {number}", found)
