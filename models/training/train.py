"""Train the network on rendered scenes and, if asked, on photographs.

Owns: how the die finder learns: its optimiser, its schedule, what it begins with.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from models.training.losses import losses
from models.training.network import DieNet
from models.training.optimiser import Run, fit
from models.training.samples import Samples, SampleSource

BATCH = 24
_WARM_UP = 300


def train(
    sources: list[SampleSource],
    out: Path,
    images: int,
    size: int,
    seed: int,
    peak_rate: float,
    begin: Path | None,
    workers: int,
) -> Path:
    """Train to the end of the schedule; returns the checkpoint with the averaged weights."""
    torch.manual_seed(seed)
    net = DieNet()
    if begin is not None:
        _take_over(net, torch.load(begin, weights_only=True)["average"])
    net = net.to(memory_format=torch.channels_last)
    decayed = [p for p in net.parameters() if p.ndim > 1]
    plain = [p for p in net.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}],
        lr=peak_rate,
    )

    def rate(step: int, steps: int) -> float:
        """A short rise, then half a cosine to zero."""
        done = step - 1
        if done < _WARM_UP:
            return peak_rate * (done + 1) / _WARM_UP
        far = (done - _WARM_UP) / max(steps - _WARM_UP, 1)
        return peak_rate * 0.5 * (1 + math.cos(math.pi * far))

    def parts(pictures: Tensor, *wanted: Tensor) -> dict[str, Tensor]:
        with torch.autocast("cpu", torch.bfloat16):
            found = net(pictures.float().to(memory_format=torch.channels_last))
        return losses(found, *wanted)

    run = Run(
        out / "latest.pt", images, BATCH, workers, rate,
        keep=lambda step: min(0.998, (step + 1) / (step + 10)),
    )  # fmt: skip
    fit(net, optimiser, lambda start, end: Samples(sources, size, seed, start, end), parts, run)
    return run.saved


def _take_over(net: DieNet, weights: dict[str, Tensor]) -> None:
    """Start from other weights; layers whose shape has changed keep their fresh ones."""
    own = net.state_dict()
    fitting = {k: v for k, v in weights.items() if k in own and own[k].shape == v.shape}
    net.load_state_dict(own | fitting)
    print(f"took over {len(fitting)} of {len(own)} tensors")
