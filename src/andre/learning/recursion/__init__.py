"""Recursive programs from few examples: base cases along the goals that a recursive rule leads to."""
