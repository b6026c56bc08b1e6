"""Reading dice: from pixels to three values, or to the reason why there are none."""

import os

# OpenCV reads this once, when it is loaded. A picture of 124 kB can claim a billion pixels and take
# 6 GB; 134 million (2 to the power of 27) are more than any camera's, and 400 MB.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 27))
