"""The table's classical reader: dice as outlines of cubes on the calibrated floor, values by pips.

It gets the raw frame and the calibration and nothing else: no boxes, corners, counts or styles from
the networks, no shared weights, no shared limits. `foreground` says what is not floor, `outline`
fits upright cubes to it, `sides` measures what is seen beside a die, `pips_first` looks for dice by
their pips where outlines fail, and `reader` puts the steps in order.
"""
