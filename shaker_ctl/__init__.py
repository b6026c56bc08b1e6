"""Controller for a Sic Bo table with an automated dice shaker."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """`__version__`, looked up when asked for: the camera process never does."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("shaker-ctl")
        except PackageNotFoundError:  # a source tree that was never installed
            found = "0+unknown"
        globals()[name] = found
        return found
