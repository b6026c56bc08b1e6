"""The consoles under random input sign in with the same users as the console's own tests."""

from shaker_ctl.console.tests.conftest import users

__all__ = ["users"]
