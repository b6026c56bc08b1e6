"""Why a command is refused: the daemon's error numbers.

Owns: the numbers (the texts are in every client). Must not know: commands.
"""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Error numbers of the daemon, as they stand in a reply."""

    BAD_USER_GPIO = -2
    BAD_GPIO = -3
    BAD_MODE = -4
    BAD_LEVEL = -5
    BAD_PUD = -6
    BAD_PULSEWIDTH = -7
    BAD_DUTYCYCLE = -8
    BAD_WDOG_TIMEOUT = -15
    BAD_DUTYRANGE = -21
    NO_HANDLE = -24
    BAD_HANDLE = -25
    BAD_WAVE_MODE = -33
    BAD_WAVE_BAUD = -35
    TOO_MANY_PULSES = -36
    TOO_MANY_CHARS = -37
    NOT_SERIAL_GPIO = -38
    NOT_PERMITTED = -41
    SOME_PERMITTED = -42
    BAD_WVSC_COMMAND = -43
    BAD_WVSM_COMMAND = -44
    BAD_WVSP_COMMAND = -45
    BAD_PULSELEN = -46
    BAD_SCRIPT_ID = -48
    BAD_SER_OFFSET = -49
    GPIO_IN_USE = -50
    BAD_SERIAL_COUNT = -51
    DUP_TAG = -53
    TOO_MANY_TAGS = -54
    BAD_SCRIPT_CMD = -55
    NO_SCRIPT_ROOM = -57
    TOO_MANY_PARAM = -61
    SCRIPT_NOT_READY = -62
    BAD_TAG = -63
    BAD_MICS_DELAY = -64
    BAD_MILS_DELAY = -65
    BAD_WAVE_ID = -66
    TOO_MANY_CBS = -67
    TOO_MANY_OOL = -68
    EMPTY_WAVEFORM = -69
    NO_WAVEFORM_ID = -70
    SER_OPEN_FAILED = -72
    BAD_I2C_BUS = -74
    BAD_I2C_ADDR = -75
    BAD_SPI_CHANNEL = -76
    BAD_FLAGS = -77
    BAD_SPI_SPEED = -78
    BAD_SER_DEVICE = -79
    BAD_SER_SPEED = -80
    BAD_PARAM = -81
    I2C_WRITE_FAILED = -82
    I2C_READ_FAILED = -83
    SER_READ_NO_DATA = -87
    UNKNOWN_COMMAND = -88
    NOT_PWM_GPIO = -92
    NOT_SERVO_GPIO = -93
    NOT_HCLK_GPIO = -94
    NOT_HPWM_GPIO = -95
    BAD_HPWM_FREQ = -96
    BAD_HPWM_DUTY = -97
    BAD_HCLK_FREQ = -98
    BAD_HCLK_PASS = -99
    HPWM_ILLEGAL = -100
    BAD_DATABITS = -101
    BAD_STOPBITS = -102
    BAD_I2C_SEG = -106
    BAD_SMBUS_CMD = -107
    BAD_I2C_WLEN = -109
    BAD_I2C_RLEN = -110
    BAD_I2C_CMD = -111
    BAD_CHAIN_LOOP = -114
    CHAIN_COUNTER = -115
    BAD_CHAIN_CMD = -116
    CHAIN_NESTING = -118
    CHAIN_TOO_BIG = -119
    DEPRECATED = -120
    BAD_SER_INVERT = -121
    BAD_FOREVER = -124
    BAD_FILTER = -125
    BAD_PAD = -126
    BAD_STRENGTH = -127
    BAD_SCRIPT_NAME = -140
    BAD_EVENT_ID = -143


class RefusedError(Exception):
    """A command cannot be carried out; raised by its handler, answered as a negative result."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason
