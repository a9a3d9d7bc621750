"""Reports that a person reads: Markdown tables, and one self-contained HTML page with plots."""
