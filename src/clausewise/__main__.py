"""`python -m clausewise` is the command `clausewise`."""

from clausewise.cli import main

if __name__ == "__main__":
    main()
