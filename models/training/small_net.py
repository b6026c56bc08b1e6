"""What the networks that look at one die at a time share: a building block, and their optimisation.

Owns: the loop over batches, its learning rate, the averaged weights, the saved state from which a
stopped run goes on. Must not know: what a window shows, nor what is asked of it.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.progress import track
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from models.training.network import convolve

BATCH = 96
_REPORTED = 200
"""Steps between two lines of progress, and two saved states."""


class Pair(nn.Module):
    """Two 3×3 convolutions, added to the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            convolve(width, width),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.inner(x))


def trunk(channels: int) -> nn.Sequential:
    """From windows (n, channels, 96, 96) to maps (n, 96, 6, 6)."""
    return nn.Sequential(
        convolve(channels, 16, 5, 2), convolve(16, 16),
        convolve(16, 32, 3, 2), Pair(32),
        convolve(32, 64, 3, 2), Pair(64),
        convolve(64, 96, 3, 2), Pair(96),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the optimiser."""

    saved: Path
    """Where its state is kept; a run that was stopped goes on from there."""
    samples: int
    seed: int
    peak_rate: float
    workers: int


def fit(
    net: nn.Module,
    data: Callable[[int, int], Dataset],
    losses: Callable[[Tensor, Tensor], Mapping[str, Tensor]],
    run: Run,
) -> nn.Module:
    """The network after that many windows, its weights averaged over the last ones.

    `data(seed, count)` gives windows (uint8) and what is wanted of each; `losses` of what the
    network tells and what is wanted are added up.
    """
    torch.manual_seed(run.seed)
    run.saved.parent.mkdir(parents=True, exist_ok=True)
    average = copy.deepcopy(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=run.peak_rate, weight_decay=0.02)
    begun = 0
    if run.saved.exists():
        kept = torch.load(run.saved, weights_only=True)
        begun = int(kept["step"])
        net.load_state_dict(kept["net"])
        average.load_state_dict(kept["average"])
        optimiser.load_state_dict(kept["optimiser"])
    steps = run.samples // BATCH
    left = max(0, steps - begun)
    began, sums = time.monotonic(), dict[str, float]()

    def save(step: int) -> None:
        kept = {"step": step, "net": net.state_dict(), "average": average.state_dict(),
                "optimiser": optimiser.state_dict()}  # fmt: skip
        torch.save(kept, run.saved.with_suffix(".part"))
        run.saved.with_suffix(".part").replace(run.saved)

    loader = DataLoader(
        data(run.seed + begun, left * BATCH), BATCH, num_workers=run.workers, drop_last=True
    )
    for step, (windows, wanted) in enumerate(track(loader, "training", total=left), begun + 1):
        for group in optimiser.param_groups:
            rise = min(1.0, step / 100)
            group["lr"] = run.peak_rate * rise * 0.5 * (1 + math.cos(math.pi * step / steps))
        parts = losses(net(windows.float()), wanted)
        optimiser.zero_grad(set_to_none=True)
        torch.stack(list(parts.values())).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        _follow(average, net, min(0.998, step / (step + 10)))
        for name, part in parts.items():
            sums[name] = sums.get(name, 0.0) + float(part.detach())
        if step % _REPORTED == 0:
            spent = time.monotonic() - began
            told = "  ".join(f"{name} {total / _REPORTED:.4f}" for name, total in sums.items())
            print(f"step {step}/{steps} {spent:.0f} s  {told}", flush=True)
            sums.clear()
            save(step)
    save(max(steps, begun))
    return average.eval()


@torch.no_grad()
def _follow(average: nn.Module, net: nn.Module, keep: float) -> None:
    """Move the averaged weights towards the newest."""
    mine, theirs = average.state_dict(), net.state_dict()
    for name, value in mine.items():
        if value.dtype.is_floating_point:
            value.lerp_(theirs[name], 1 - keep)
        else:
            value.copy_(theirs[name])
