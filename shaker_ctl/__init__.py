"""Controller for a Sic Bo table with an automated dice shaker."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("shaker-ctl")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
