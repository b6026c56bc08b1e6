"""The settings file as a new table gets it: `settings_page.FIRST`, and nothing else.

Owns the text. Every other key keeps its default; a test parses this text, and again with its
commented keys switched on.
"""

from __future__ import annotations

SKELETON = """\
# Settings of this table. `shaker-ctl settings reference` explains every key with its unit, range,
# default and reason; `shaker-ctl settings check` says whether this file is right.

[service]
table_name = "Sic Bo 1"

[table]
profile = "pa-625a"          # the rule text: shaker-ctl rules list
# paytable = "A"
# cover_fitted = false
# attended = true

[gpio]
# monostable = false         # where none is fitted in front of EN

[camera]
device = "/dev/shaker-camera"

# Measured by `shaker-ctl calibrate camera`, which writes it here.
[camera.calibration]
# image_size = [640, 480]
# floor_px_per_mm = 4.4      # a ruler on the floor of the compartment
# height_mm = 300.0          # from the floor up to the lens
# centre_px = [320.0, 240.0] # where a plumb line from the lens ends
# compartment_radius_mm = 50.0
# die_mm = 16.0

[lamp]
device = "/dev/shaker-lamps"

[console.technician]
device = "/dev/serial0"
roles = ["technician", "floorperson", "supervisor"]

[console.dealer]
device = "/dev/ttyGS0"
roles = ["dealer", "floorperson", "supervisor"]

[journal]
# The second copy belongs on another medium: a USB stick with a file system labelled shaker-2nd.
# second = "/media/shaker-journal/journal.sqlite"

[page]
# The page for browsers, switched on with `shaker-ctl install --page`. On this computer alone, or:
# address = "0.0.0.0"
# certificate = "/etc/shaker-page/certificate.pem"
# key = "/etc/shaker-page/key.pem"

[seal]
# The table does not start before the approver has sealed it (`shaker-ctl seal`).
required = true
"""
