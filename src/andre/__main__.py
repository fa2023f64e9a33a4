"""`python -m andre` is `andre`."""

from __future__ import annotations

from andre.cli.app import main

if __name__ == "__main__":
    main()
