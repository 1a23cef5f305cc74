"""The shell of the tests of commands, for those of fleets."""

from tests.cli.conftest import shell

__all__ = ["shell"]
