"""Shared by the benchmarks: pages, the command line, CPU times, tables and pictures."""
