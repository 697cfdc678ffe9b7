"""The command line `kempe`: one module for each command."""

from kempe.cli.main import main

__all__ = ["main"]
