"""`python -m andre` is `andre`."""

from andre.cli import main

if __name__ == "__main__":
    main()
