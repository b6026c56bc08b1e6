"""The kernel's GPIO structures and request numbers, as `<linux/gpio.h>` has them (version 2).

Owns the binary layout. Must not know what a request does. Every field is aligned to its own size,
so the native layout is the kernel's on every 64-bit machine.
"""

from __future__ import annotations

import ctypes
from ctypes import Array, Structure, c_char, c_int32, c_uint32, c_uint64
from enum import IntEnum, IntFlag

LINES_MAX = 64
ATTRS_MAX = 10
NAME_SIZE = 32
MAGIC = 0xB4


class LineFlag(IntFlag):
    """`enum gpio_v2_line_flag`."""

    USED = 1 << 0
    ACTIVE_LOW = 1 << 1
    INPUT = 1 << 2
    OUTPUT = 1 << 3
    EDGE_RISING = 1 << 4
    EDGE_FALLING = 1 << 5
    OPEN_DRAIN = 1 << 6
    OPEN_SOURCE = 1 << 7
    PULL_UP = 1 << 8
    PULL_DOWN = 1 << 9
    BIAS_DISABLED = 1 << 10


class Attribute(IntEnum):
    """`enum gpio_v2_line_attr_id`."""

    FLAGS = 1
    OUTPUT_VALUES = 2
    DEBOUNCE = 3


class Edge(IntEnum):
    """`enum gpio_v2_line_event_id`."""

    RISING = 1
    FALLING = 2


class ChipInfo(Structure):
    _fields_ = [
        ("name", c_char * NAME_SIZE),
        ("label", c_char * NAME_SIZE),
        ("lines", c_uint32),
    ]


class LineValues(Structure):
    _fields_ = [("bits", c_uint64), ("mask", c_uint64)]


class LineAttribute(Structure):
    _fields_ = [("id", c_uint32), ("padding", c_uint32), ("value", c_uint64)]


class ConfigAttribute(Structure):
    _fields_ = [("attr", LineAttribute), ("mask", c_uint64)]


class LineConfig(Structure):
    _fields_ = [
        ("flags", c_uint64),
        ("num_attrs", c_uint32),
        ("padding", c_uint32 * 5),
        ("attrs", ConfigAttribute * ATTRS_MAX),
    ]

    flags: int
    num_attrs: int
    attrs: Array[ConfigAttribute]

    def flags_of(self, index: int) -> LineFlag:
        """Flags of the line at `index` of the request: its attribute's, or those of all."""
        found = self._value_of(Attribute.FLAGS, index)
        return LineFlag(self.flags if found is None else found)

    def debounce_us_of(self, index: int) -> int:
        """Debounce period of the line, microseconds."""
        return (self._value_of(Attribute.DEBOUNCE, index) or 0) & 0xFFFFFFFF

    def level_of(self, index: int) -> int:
        """Level that an output starts with."""
        return (self._value_of(Attribute.OUTPUT_VALUES, index) or 0) >> index & 1

    def _value_of(self, wanted: Attribute, index: int) -> int | None:
        for attribute in self.attrs[: self.num_attrs]:
            if attribute.attr.id == wanted and attribute.mask >> index & 1:
                return int(attribute.attr.value)
        return None


class LineRequest(Structure):
    _fields_ = [
        ("offsets", c_uint32 * LINES_MAX),
        ("consumer", c_char * NAME_SIZE),
        ("config", LineConfig),
        ("num_lines", c_uint32),
        ("event_buffer_size", c_uint32),
        ("padding", c_uint32 * 5),
        ("fd", c_int32),
    ]


class LineInfo(Structure):
    _fields_ = [
        ("name", c_char * NAME_SIZE),
        ("consumer", c_char * NAME_SIZE),
        ("offset", c_uint32),
        ("num_attrs", c_uint32),
        ("flags", c_uint64),
        ("attrs", LineAttribute * ATTRS_MAX),
        ("padding", c_uint32 * 4),
    ]


class LineEvent(Structure):
    _fields_ = [
        ("timestamp_ns", c_uint64),
        ("id", c_uint32),
        ("offset", c_uint32),
        ("seqno", c_uint32),
        ("line_seqno", c_uint32),
        ("padding", c_uint32 * 6),
    ]


def _number(direction: int, number: int, structure: type[Structure]) -> int:
    return direction << 30 | ctypes.sizeof(structure) << 16 | MAGIC << 8 | number


GET_CHIPINFO = _number(2, 0x01, ChipInfo)
GET_LINEINFO = _number(3, 0x05, LineInfo)
GET_LINE = _number(3, 0x07, LineRequest)
GET_VALUES = _number(3, 0x0E, LineValues)
SET_VALUES = _number(3, 0x0F, LineValues)
