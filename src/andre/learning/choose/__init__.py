"""Choosing a program: by description length, by fewest errors, at the fixpoint."""
