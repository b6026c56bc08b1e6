"""Reading dice: from pixels to three values, or to the reason why there are none."""

from shaker_ctl import MAX_PIXELS as MAX_PIXELS  # before OpenCV: this says how much it may read
