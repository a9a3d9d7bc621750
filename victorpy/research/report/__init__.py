"""Reports that a person reads: on a terminal, as Markdown, and as one self-contained HTML page with plots."""
