"""Showing what was learned: in words, on a terminal, in figures."""
