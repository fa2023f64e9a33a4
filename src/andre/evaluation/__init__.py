"""Judging programs: crisp truth, coverage, description length."""
