"""Draws the wiring of a table, `wiring.svg`, from the pins that the settings have by default
and the option beside them.

    python systemd/draw_wiring.py > systemd/wiring.svg

Owns where things stand in the drawing. A test draws it again and compares.
"""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters

HEADER = {
    2: 3, 3: 5, 4: 7, 5: 29, 6: 31, 7: 26, 8: 24, 9: 21, 10: 19, 11: 23, 12: 32, 13: 33, 14: 8,
    15: 10, 16: 36, 17: 11, 18: 12, 19: 35, 20: 38, 21: 40, 22: 15, 23: 16, 24: 18, 25: 22, 26: 37,
    27: 13,
}  # fmt: skip
"""Broadcom number to pin of the 40-pin header, the same on every Raspberry Pi that has one."""

WIRED = PinParameters(lid_flag=26)
"""The default pins, and the option that the page explains."""

WIDTH, HEIGHT = 1180, 992
PI_LEFT, PI_RIGHT = 40, 270
PART_LEFT, PART_RIGHT = 830, 1140
TOP, STEP = 110, 52

STYLE = """
text { font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 14px; fill: #1b2733; }
.small { font-size: 12px; fill: #4a5a68; }
.title { font-size: 20px; font-weight: bold; }
.head { font-weight: bold; }
.box { fill: #f4f7fa; stroke: #1b2733; stroke-width: 1.6; }
.pi { fill: #e7f2e7; }
.safe { fill: #fdecea; }
.wire { fill: none; stroke: #1b2733; stroke-width: 2; }
.en { stroke: #c0392b; stroke-width: 3; }
.open { fill: #ffffff; stroke: #1b2733; stroke-width: 2; }
.arrow { fill: #1b2733; }
"""


class Drawing:
    """Shapes in the order in which they are drawn."""

    def __init__(self) -> None:
        self._shapes: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, kind: str = "") -> None:
        self._shapes.append(
            f'<rect class="box {kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        )

    def text(self, x: int, y: int, text: str, kind: str = "", anchor: str = "start") -> None:
        self._shapes.append(
            f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def wire(self, *points: tuple[int, int], kind: str = "") -> None:
        path = " ".join(f"{x},{y}" for x, y in points)
        self._shapes.append(f'<polyline class="wire {kind}" points="{path}"/>')

    def arrow(self, x: int, y: int, *, left: bool = False) -> None:
        tail = 9 if left else -9
        self._shapes.append(
            f'<polygon class="arrow" points="{x},{y} {x + tail},{y - 5} {x + tail},{y + 5}"/>'
        )

    def contact(self, x: int, y: int, name: str) -> None:
        """A contact in series, drawn closed: as it is while the motor may turn."""
        self.wire((x, y), (x + 44, y), kind="en")
        for end in (x, x + 44):
            self._shapes.append(f'<circle class="open" cx="{end}" cy="{y}" r="5"/>')
        self.text(x + 22, y - 14, name, anchor="middle")

    def ground(self, x: int, y: int) -> None:
        self.wire((x, y), (x, y + 10))
        for half, down in ((12, 10), (8, 15), (4, 20)):
            self.wire((x - half, y + down), (x + half, y + down))

    def svg(self) -> str:
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}">',
                f"<style>{STYLE}</style>",
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
                *self._shapes,
                "</svg>\n",
            )
        )


def row(number: int) -> int:
    """Height of one signal's wire."""
    return TOP + 40 + STEP * number


def draw(pins: PinParameters) -> str:
    """Return the drawing as SVG."""
    drawing = Drawing()
    drawing.text(PI_LEFT, 44, "Wiring of a Sic Bo shaker", "title")
    drawing.text(
        PI_LEFT,
        68,
        "Contacts are drawn with the table closed and nothing pressed. "
        "A broken wire reads as the unsafe state.",
        "small",
    )
    drawing.box(PI_LEFT, TOP - 20, PI_RIGHT - PI_LEFT, STEP * 13 + 8, "pi")
    drawing.text((PI_LEFT + PI_RIGHT) // 2, TOP + 4, "Raspberry Pi", "head", "middle")
    _motor(drawing, pins)
    _contacts(drawing, pins)
    _outputs(drawing, pins)
    _ground(drawing)
    _lines(drawing)
    return drawing.svg()


def _pin(drawing: Drawing, number: int, name: str, gpio: int) -> int:
    """One row of the Pi's box; returns the height of its wire."""
    y = row(number)
    drawing.text(PI_LEFT + 12, y + 5, name)
    drawing.text(PI_RIGHT - 10, y - 2, f"GPIO {gpio}", "head", "end")
    drawing.text(PI_RIGHT - 10, y + 14, f"pin {HEADER[gpio]}", "small", "end")
    return y


def _motor(drawing: Drawing, pins: PinParameters) -> None:
    part_top = row(0) - 26
    drawing.box(PART_LEFT, part_top, 170, STEP * 2 + 48)
    drawing.text(PART_LEFT + 85, part_top - 8, "motor driver", "head", "middle")

    y = _pin(drawing, 0, "motor PWM", pins.motor_pwm)
    drawing.wire((PI_RIGHT, y), (PART_LEFT, y))
    drawing.arrow(PART_LEFT, y)
    drawing.text(PART_LEFT + 12, y + 5, "speed (20 kHz)")

    y = _pin(drawing, 1, "motor EN", pins.motor_enable)
    drawing.wire((PI_RIGHT, y), (330, y), kind="en")
    drawing.box(330, y - 22, 150, 44, "safe")
    drawing.text(405, y - 3, "monostable", "head", "middle")
    drawing.text(405, y + 14, "74HC123, 50 ms", "small", "middle")
    drawing.wire((480, y), (530, y), kind="en")
    drawing.contact(530, y, "e-stop")
    drawing.wire((574, y), (640, y), kind="en")
    drawing.contact(640, y, "compartment")
    drawing.wire((684, y), (PART_LEFT, y), kind="en")
    drawing.arrow(PART_LEFT, y)
    drawing.text(PART_LEFT + 12, y + 5, "EN (brakes when low)")
    drawing.wire((770, y), (770, y + 8))
    drawing.box(764, y + 8, 12, 14)
    drawing.text(756, y + 22, "10 kΩ", "small", "end")
    drawing.ground(770, y + 22)

    y = _pin(drawing, 2, "driver fault", pins.driver_fault)
    drawing.wire((PI_RIGHT, y), (PART_LEFT, y))
    drawing.arrow(PI_RIGHT, y, left=True)
    drawing.text(PART_LEFT + 12, y + 5, "fault, open collector")

    drawing.box(PART_LEFT + 210, part_top, 100, STEP * 2 + 48)
    drawing.text(PART_LEFT + 260, part_top + 60, "motor", "head", "middle")
    drawing.text(PART_LEFT + 260, part_top + 80, "and cam", "head", "middle")
    drawing.wire((PART_LEFT + 170, row(1)), (PART_LEFT + 210, row(1)))
    drawing.arrow(PART_LEFT + 210, row(1))

    y = _pin(drawing, 3, "tach", pins.tach)
    drawing.wire((PI_RIGHT, y), (PART_LEFT + 120, y))
    drawing.arrow(PI_RIGHT, y, left=True)
    drawing.box(PART_LEFT + 120, y - 18, 190, 40)
    drawing.text(PART_LEFT + 132, y + 7, "tach, 12 pulses a turn")


def _contacts(drawing: Drawing, pins: PinParameters) -> None:
    for number, (name, gpio, what) in enumerate(
        (
            ("e-stop", pins.estop, "e-stop, second pole, normally closed"),
            ("compartment", pins.compartment, "compartment, second pole: closed and locked"),
            ("cover", pins.cover, "cover closed; leave open where there is none"),
            ("player's button", pins.button, "button, normally open"),
            ("lid flag", pins.lid_flag, "option: falls when the lid is raised, set with a key"),
        ),
        start=4,
    ):
        if gpio is None:
            continue
        y = _pin(drawing, number, name, gpio)
        drawing.arrow(PI_RIGHT, y, left=True)
        drawing.wire((PI_RIGHT, y), (530, y))
        is_closed = gpio != pins.button
        drawing.wire((530, y), (574, y if is_closed else y - 14))
        for end in (530, 574):
            drawing.box(end - 4, y - 4, 8, 8)
        drawing.wire((574, y), (640, y))
        drawing.ground(640, y)
        drawing.text(670, y + 5, what)


def _outputs(drawing: Drawing, pins: PinParameters) -> None:
    for number, (name, gpio, what) in enumerate(
        (
            ("ring light", pins.ring_light, "driver of the ring light, PWM"),
            ("cover drive", pins.cover_drive, "drive of the cover: 1 open, 0 close"),
            ("latch", pins.latch_release, "latch of the compartment: 1 release"),
        ),
        start=9,
    ):
        y = _pin(drawing, number, name, gpio)
        drawing.wire((PI_RIGHT, y), (PART_LEFT - 10, y))
        drawing.arrow(PART_LEFT - 10, y)
        drawing.box(PART_LEFT - 10, y - 20, 320, 40)
        drawing.text(PART_LEFT + 4, y + 5, what)


def _ground(drawing: Drawing) -> None:
    y = row(12) - 14
    drawing.text(PI_LEFT + 12, y + 5, "ground")
    drawing.text(PI_RIGHT - 10, y + 5, "pins 6, 14, 20, 34", "small", "end")
    drawing.wire((PI_RIGHT, y), (330, y))
    drawing.ground(330, y)
    drawing.text(
        360,
        y + 5,
        "one ground for Pi, driver, tach and lights; the motor's own supply has its own fuse",
        "small",
    )


def _lines(drawing: Drawing) -> None:
    top = row(12) + 66
    drawing.text(PI_LEFT, top - 28, "On USB and serial", "head")
    for number, (left, what, middle, right) in enumerate(
        (
            ("USB", "/dev/shaker-camera", "", "camera, straight down, 640 × 480"),
            ("USB", "/dev/shaker-lamps", "RS-485 adapter", "lamp box, unit 1, 115200 8N1"),
            ("UART or USB gadget", "two consoles", "", "technician's and dealer's terminals"),
        )
    ):
        y = top + number * 48
        drawing.box(PI_LEFT, y - 18, PI_RIGHT - PI_LEFT, 36, "pi")
        drawing.text(PI_LEFT + 12, y + 5, left)
        drawing.wire((PI_RIGHT, y), (PART_LEFT - 10, y))
        drawing.text(PI_RIGHT + 12, y - 6, what, "small")
        if middle:
            drawing.wire((660, y + 4), (PART_LEFT - 10, y + 4))
            drawing.box(520, y - 18, 140, 36)
            drawing.text(590, y + 5, middle, anchor="middle")
            drawing.text(668, y - 8, "A, B, ground;", "small")
            drawing.text(668, y + 20, "120 Ω at both ends", "small")
        drawing.box(PART_LEFT - 10, y - 18, 320, 36)
        drawing.text(PART_LEFT + 4, y + 5, right)


if __name__ == "__main__":
    sys.stdout.write(draw(WIRED))
