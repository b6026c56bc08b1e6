"""How much the dice in the compartment have been shaken since they were locked in."""

from __future__ import annotations

from shaker_ctl.frozen import frozen


@frozen
class PartUsage:
    """Tosses of play, inspections and trials; a jog is not counted."""

    tosses: int = 0
    turns: float = 0.0
    """Turns of the cam; each is one stroke of the plate."""
    shaken_s: float = 0.0
    """Time inside the band that mixes."""

    def line(self) -> str:
        """In words, without the tosses."""
        minutes, seconds = divmod(round(self.shaken_s), 60)
        shaken = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return f"{self.turns:.0f} strokes, {shaken} of shaking"

    def plus(self, more: PartUsage) -> PartUsage:
        """Both together."""
        return PartUsage(
            self.tosses + more.tosses, self.turns + more.turns, self.shaken_s + more.shaken_s
        )
