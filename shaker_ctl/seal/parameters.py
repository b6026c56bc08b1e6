"""Settings of the seal. Its files lie beside the settings file: `seal.json` and `seal.pub`."""

from __future__ import annotations

from shaker_ctl.parameters import Parameters


class SealParameters(Parameters):
    """The signed list of everything that decides (`shaker-ctl seal`)."""

    required: bool = False
    """Whether the table refuses to play without a seal. True on every real table.

    Where a seal lies beside the settings file it is checked in any case, and a table that was once
    sealed does not play without its seal until a person has cleared that by a logged act. False and
    no seal: the table plays and says `unsealed` on screens and in records.
    """
