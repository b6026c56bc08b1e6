"""Reading dice: from pixels to three values, or to the reason why there are none."""

# Before OpenCV is loaded: the package says how many pixels a picture may have.
import shaker_ctl.frozen  # noqa: F401
