"""A die's face found and read by its pips alone, in pictures of a table and in photographs.

`spots` are the round things of a picture, `proposals` and `aces` make faces of them, `faces` judges
each one; `pips` reads a rectified face by shape and layout, `lattice` one whose pips fade. Nothing
here knows a calibration or a network.
"""
