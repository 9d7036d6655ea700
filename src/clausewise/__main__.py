"""`python -m clausewise` is the command `clausewise`."""

from clausewise.cli import main

main()
