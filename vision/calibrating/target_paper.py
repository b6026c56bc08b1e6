"""The calibration target as a file for a printer: PDF to scale, or PNG with its resolution in it.

Owns the two formats. Must not know how the target is found again.
"""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np

from vision.calibrating.target import Target

PAGE_MM = (210.0, 297.0)
RULE_MM = 50.0
"""Length of the printed line that shows whether the printer kept the scale."""

_POINT_MM = 25.4 / 72.0
_DOTS_PER_INCH = 600
_ROUND = 0.5522847498
"""Control points of a quarter circle's curve."""


def pdf(target: Target) -> bytes:
    """One A4 page with the card, its cutting line, and a rule to measure."""
    middle_x, middle_y = PAGE_MM[0] / 2, 110.0
    r, inside = target.radius_mm, target.compartment_radius_mm
    lines = [f"{1 / _POINT_MM:.6f} 0 0 {-1 / _POINT_MM:.6f} 0 {PAGE_MM[1] / _POINT_MM:.3f} cm"]
    lines += ["q", f"1 0 0 1 {middle_x} {middle_y} cm", "0 g"]
    lines += [f"{x:.4f} {y:.4f} {edge:.4f} {edge:.4f} re" for x, y, edge in target.black()]
    lines += ["f", "0.15 w 0.5 G", _circle(r), "S", "Q"]
    left, top = middle_x - RULE_MM / 2, middle_y + r + 15.0
    lines += ["0.2 w 0 G", f"{left} {top} m {left + RULE_MM} {top} l"]
    lines += [f"{x} {top - 2} m {x} {top + 2} l" for x in (left, left + RULE_MM)]
    lines.append("S")
    for x, below, words in (
        (left, 8, f"{RULE_MM:g} mm: measure it, give --rule where it is not"),
        (20, 24, f"shaker-ctl calibration target, compartment {inside:g} mm radius"),
        (20, 31, "Print at 100 %, matt. Glue flat onto card, cut along the circle,"),
        (20, 37, "lay it onto the floor of the compartment: shaker-ctl calibrate camera"),
    ):
        lines += _text(x, top + below, words)
    return _document("\n".join(lines).encode("latin-1"))


def _circle(r: float) -> str:
    k = r * _ROUND
    return (
        f"{r} 0 m {r} {k} {k} {r} 0 {r} c {-k} {r} {-r} {k} {-r} 0 c "
        f"{-r} {-k} {-k} {-r} 0 {-r} c {k} {-r} {r} {-k} {r} 0 c"
    )


def _text(x: float, y: float, words: str) -> list[str]:
    """Words at a place; the page's y axis points down, letters' must not."""
    safe = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return ["BT", f"/F1 3.6 Tf 1 0 0 -1 {x} {y} Tm ({safe}) Tj", "ET"]


def _document(content: bytes) -> bytes:
    width, height = (v / _POINT_MM for v in PAGE_MM)
    packed = zlib.compress(content)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3f} {height:.3f}] "
        "/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".encode(),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    file += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(file)


def png(target: Target) -> bytes:
    """The card alone, as wide as the compartment, with its resolution for the printer."""
    picture = target.picture(_DOTS_PER_INCH / 25.4)
    data = bytes(np.asarray(cv2.imencode(".png", picture)[1]))
    per_metre = round(_DOTS_PER_INCH / 0.0254)
    body = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    chunk = struct.pack(">I", 9) + body + struct.pack(">I", zlib.crc32(body))
    header_end = 8 + 25
    return data[:header_end] + chunk + data[header_end:]
