"""Finds and reads a die's face by its pips alone, in pictures of a table and in photographs.

`spots` finds round spots in a picture. `proposals` and `aces` combine spots into faces, and `faces`
judges each face. `pips` reads a rectified face by its layout, `pieces` says what on it is a pip,
and `likeness` whether its middle is what it seems. `far_face` compares what shines through a clear
die with a lean. Nothing here knows a calibration or a network.
"""
