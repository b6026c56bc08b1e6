"""The table's classical reader: dice as outlines of cubes on the calibrated floor, values by pips.

Its only inputs are the raw frame and the calibration. It gets no boxes, corners, counts or styles
from the networks, and it shares no weights and no limits with them. `foreground` says what is not
floor. `outline` fits upright cubes to the foreground, and `explanation` keeps those that explain
it. `left_over` measures what no die explains. `rays` measures where a die ends beside its top face,
and `sides` which lean that shows. `pips_first` finds dice by their pips if outlines fail. `reader`
puts the steps in order.
"""
