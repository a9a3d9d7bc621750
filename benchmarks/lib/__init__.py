"""What several benchmarks share: pages, the command line, CPU times, tables and pictures."""
