"""Controller for a Sic Bo table with an automated dice shaker."""

import os
from typing import TYPE_CHECKING

# OpenCV reads this once, when it is loaded. A picture of 124 kB can claim a billion pixels and take
# 6 GB; 134 million (2 to the power of 27) are more than any camera's, and 400 MB.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 27))

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
