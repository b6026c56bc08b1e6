"""What a person who took a picture can do about each reason for which it was refused.

Owns: these words. Must not know how a picture is read. At a table the rules say what to do.
"""

from __future__ import annotations

from vision.reading import Reason

_APART = "lay the dice apart, flat, and each whole in the picture"
_LIGHT = "give even light without glare, focus, and take a new picture"
REMEDIES = {
    Reason.COUNT: f"show three dice, or any number with `--any-number`; {_APART}; take away what "
    "looks like a die, and what lies at the picture's border",
    Reason.FOREIGN_OBJECT: "take out what is no die",
    Reason.BLOCKED: "take away what hides the dice; name the settings of the table in the picture",
    Reason.BLACK: "switch the light on, and see whether something covers the lens",
    Reason.OVER_EXPOSED: "give less light, or a shorter exposure",
    Reason.DEFOCUSED: "focus, clean the lens and the dome, and take a new picture",
    Reason.FROZEN: "restart the camera",
    Reason.LOOPED: "shake the dice anew; if it comes again, see what feeds the camera",
    Reason.TORN: "take a new picture; if it comes again, change the camera's cable",
    Reason.WRONG_SIZE: "read it with the settings of the table that it was taken at",
    Reason.MOVING: "wait until the dice lie still",
    Reason.CAMERA_MOVED: "calibrate the camera (`shaker-ctl calibrate`)",
    Reason.UNTAUGHT: "teach the table its dice (`shaker-ctl teach`)",
    Reason.READERS_DISAGREE: f"clean the dice; {_LIGHT}",
    Reason.DOUBTFUL: f"photograph from above, near by; {_LIGHT}",
    Reason.NOT_FLAT_DOUBTFUL: "lay the dice flat, away from the wall and from each other, and "
    "photograph from above",
    Reason.NO_CONSENSUS: "take new pictures of dice that lie still",
    Reason.NO_DIP: "see that the ring light is on, and that the camera shows this table",
    Reason.NO_FRAMES: "check the camera and its cable",
    Reason.UNNAMED: "take a new picture",
}
"""What a person who took the picture can do about each reason."""
