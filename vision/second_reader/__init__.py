"""The second reader: classical, and independent of the model in principle and in data.

It gets the raw frame and the calibration and nothing else: no boxes, corners, counts or styles
from the model, no shared weights, no shared thresholds. `foreground` says what is not floor,
`outline` fits upright cubes to it, `pips` reads a rectified face by shape and layout, `lattice` one
whose pips fade, `sides` measures what is seen beside it, `table` puts them in order; `photo` does
without a calibration, from the round `spots` of a picture and the faces that `proposals` and `aces`
make of them, and `pips_first` asks it at a table.
"""
