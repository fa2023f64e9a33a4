"""Writing programs for people and for other tools, and reading them back."""
