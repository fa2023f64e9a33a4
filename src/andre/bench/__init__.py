"""The paper's tables and figures on synthetic data, one module each, the paper's numbers beside ours."""
