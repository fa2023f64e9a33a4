"""`python -m benchmarks NAME`, which `./dev bench` calls."""

from benchmarks.command import main

main()
