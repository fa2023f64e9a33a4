"""Learning from facts: the rules of one target or more, over a background.

`targets` takes the targets one by one. `from_examples` learns by one application of rules to what is
known, `definitions` by the fixpoint over the background, and `reaching` where
rules have too many variables for their groundings to be counted. `inventing` adds predicates of its own,
`together` mends definitions that read one another, `misjudged` lists what a program gets wrong, and
`advice` says what would have helped.
"""
