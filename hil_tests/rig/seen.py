"""What an observer sees of each fault of plant and camera: at pins, lamps and pictures.

Owns these texts for the catalogue. The lists of plant and camera say what breaks.
"""

from __future__ import annotations

PLANT_SEEN = {
    "jam": "EN high, duty up, no tach edges, current at the limit, then the fault line low",
    "slow_start": "speed rises late or never reaches the band",
    "overspeed": "tach edges closer than the band allows",
    "no_stop": "tach edges go on with EN low",
    "no_brake": "tach edges run out over seconds after EN low",
    "driver_fault": "GPIO 25 = 0, no tach edges",
    "driver_dead": "EN high, duty up, no tach edges, no current, GPIO 25 = 1",
    "fault_line_stuck": "GPIO 25 = 1 whatever the driver finds",
    "supply_low": "speed below the band at any duty",
    "tach_silent": "no tach edges while the plate shakes (the picture is blurred)",
    "tach_noise": "tach edges also at rest, and far too many in a toss, where no filter drops them",
    "tach_doubled": "tach edges at twice the rate, evenly spaced",
    "tach_missing": "tach edges with gaps, speed reads low",
    "weak_shake": "tach as usual; the dice keep their places and faces",
    "cam_slip": "tach as usual; the dice do not move at all",
    "compartment_contact_open": "GPIO 5 = 1 with the lid shut",
    "compartment_contact_stuck": "GPIO 5 = 0 with the lid open",
    "cover_contact_open": "GPIO 6 = 1 whatever the cover does",
    "cover_contact_stuck": "GPIO 6 = 0 whatever the cover does",
    "cover_stuck": "GPIO 6 does not follow the cover drive",
    "latch_stuck": "the lid stays shut when released",
    "estop_contact_open": "GPIO 13 = 1 with the button out",
    "button_stuck": "GPIO 16 = 0 for ever",
    "die_loaded": "one face of one die comes more often than one time in six",
    "die_misspotted": "a value twice on one die, and another never",
    "light_dead": "pictures lit by the room alone, no dip",
    "light_stuck": "pictures evenly lit, no dip",
}

CAMERA_SEEN = {
    "frozen": "identical pictures, no dip, no motion in a toss",
    "black": "grain on black",
    "over_exposed": "faces and floor white",
    "breathing": "no two pictures alike, at rest neither",
    "auto_exposure": "brightness follows a hand or the ring light, half a second behind",
    "white_balance": "white dice rosy over a green floor",
    "flicker": "faint dark bands that wander through the picture",
    "focus_drift": "edges soft for some seconds in each minute",
    "reflections": "soft lights that move where nothing moves",
    "dirty_dome": "specks, and round places where the picture is bent",
    "hot_pixels": "single coloured points that stay",
    "defocused": "soft edges, pips run together",
    "shifted": "the compartment is not where the calibration has it",
    "blocked": "dark from the left",
    "slow": "too few pictures a second",
    "wrong_size": "pictures of another size",
    "torn": "upper and lower part of different moments",
    "garbled": "JPEGs with damage, undecodable or with wrong blocks",
    "late": "the dip and the rest are seen late",
    "looped": "an old stretch again and again, its dips not ours",
    "dead": "no pictures, connection open",
    "closed": "connection refused",
}
