"""The paper's tables and figures, one module each, the paper's numbers beside ours; and speed ratios."""
