"""Measure and compare: gold standards, scores, cross-validation, comparisons, studies and their reports."""
