"""The processors of Raspberry Pis: how they are emulated, and what an instruction costs on each.

Owns published clocks, and estimates of instructions a cycle. Must not know what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Core:
    """A kind of core, as qemu and /proc/cpuinfo name it."""

    name: str
    qemu: str
    part: int
    """`CPU part` of /proc/cpuinfo (Arm, MIDR_EL1)."""
    features: str

    def cpuinfo(self, cores: int = 4) -> str:
        """What /proc/cpuinfo says: onnxruntime chooses its kernels by it."""
        return "".join(
            f"processor\t: {number}\nBogoMIPS\t: 108.00\nFeatures\t: {self.features}\n"
            "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
            f"CPU part\t: 0x{self.part:x}\nCPU revision\t: 3\n\n"
            for number in range(cores)
        )


A72 = Core("Cortex-A72", "cortex-a72", 0xD08, "fp asimd evtstrm crc32 cpuid")
A76 = Core(
    "Cortex-A76",
    "cortex-a76",
    0xD0B,
    "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop "
    "asimddp",
)
"""With dot products of bytes (asimddp)."""

CORES = {"a72": A72, "a76": A76}


@dataclass(frozen=True, slots=True)
class Board:
    """A Raspberry Pi, and instructions a cycle on it as (least, most)."""

    name: str
    counted_on: str
    """The core of `CORES` whose instructions it executes; a Cortex-A53 executes an A72's."""
    clock_ghz: float
    """raspberrypi.com, the board's product brief."""
    networks: tuple[float, float]
    rest: tuple[float, float]
    """Python and libraries."""

    def milliseconds(self, networks: float, rest: float) -> tuple[float, float]:
        """What so many million instructions take on one core: (least, most)."""
        least, most = (
            networks / (self.networks[end] * self.clock_ghz)
            + rest / (self.rest[end] * self.clock_ghz)
            for end in (1, 0)
        )
        return least, most


BOARDS = (
    Board("Pi 5", "a76", 2.4, (2.0, 2.6), (1.5, 1.9)),
    Board("Pi 4", "a72", 1.8, (1.3, 1.6), (0.9, 1.2)),
    Board("Pi 3 B+", "a72", 1.4, (0.6, 0.8), (0.45, 0.6)),
    Board("Zero 2 W", "a72", 1.0, (0.6, 0.8), (0.45, 0.6)),
)
"""Instructions a cycle are estimates; a measurement on a board would settle them. Check: they give
0.7 s for YOLOv8n at 640 on one core of a Pi 4; Q-engineering publishes 3.1 a second on four."""
