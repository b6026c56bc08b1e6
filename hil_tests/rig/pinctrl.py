"""`pinctrl` of Raspberry Pi OS, acting on a rig's board.

Owns the words that the stop script and `doctor` give it (`set 23,21 op dl`, `set 18 a3`, `get 18`)
and what it prints (raspberrypi/utils, pinctrl). A rig answers them as a verb at its door; `put`
makes the program that asks there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hil_tests.rig.control import told
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode

FUNCTIONS = {
    "ip": Mode.INPUT,
    "op": Mode.OUTPUT,
    "a0": Mode.ALT0,
    "a1": Mode.ALT1,
    "a2": Mode.ALT2,
    "a3": Mode.ALT3,
    "a4": Mode.ALT4,
    "a5": Mode.ALT5,
}
LEVELS = {"dl": 0, "dh": 1}


def obey(board: Board, sentence: str) -> str:
    """Do what the words say; return what the program prints. Raises ValueError."""
    match sentence.split():
        case ["get", pins]:
            return "\n".join(_shown(board, int(pin)) for pin in pins.split(","))
        case ["set", pins, *words]:
            unknown = [word for word in words if word not in FUNCTIONS and word not in LEVELS]
            if unknown:
                raise ValueError(f"Unknown argument {unknown[0]!r}")
            for pin in pins.split(","):
                _set(board, int(pin), words)
            return ""
    raise ValueError("pinctrl set PINS FUNCTION [dl|dh], or pinctrl get PINS")


def _set(board: Board, gpio: int, words: list[str]) -> None:
    level = next((LEVELS[word] for word in words if word in LEVELS), None)
    mode = next((FUNCTIONS[word] for word in words if word in FUNCTIONS), board.mode(gpio))
    if mode is Mode.OUTPUT:
        board.output(gpio, level)
    else:
        board.set_mode(gpio, mode)


def _shown(board: Board, gpio: int) -> str:
    mode = board.mode(gpio)
    name = next(name for name, known in FUNCTIONS.items() if known is mode)
    level = board.level(gpio)
    drive = f"d{'lh'[level]}" if mode is Mode.OUTPUT else "  "
    return f"{gpio:2}: {name} {drive} pd | {('lo', 'hi')[level]} // GPIO{gpio}"


def put(folder: Path, door: Path) -> None:
    """Make a `pinctrl` in `folder` that asks the rig behind `door`."""
    program = folder / "pinctrl"
    root = Path(__file__).resolve().parents[2]
    places = f"{root}:{root / 'hil_tests' / 'virtual-pigpiod'}"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{places}" exec "{sys.executable}" -m {__name__} "{door}" "$@"\n'
    )
    program.chmod(0o755)


if __name__ == "__main__":
    try:
        said = told(Path(sys.argv[1]), " ".join(["pinctrl", *sys.argv[2:]]))
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    if said:
        print(said)  # noqa: T201 - what the program is for
