"""The loop in which every network here learns: it averages the weights, saves, and goes on.

Owns: steps, learning rate, averaged weights, the saved state. Must not know: what a network is
shown and asked.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np
import torch
from rich.progress import track
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""Where networks learn: on a graphics card where there is one."""

_REPORTED = 200
"""Steps between two lines of progress, and two saved states."""
_WARM_UP = 300
"""Steps in which the learning rate rises."""

Net = TypeVar("Net", bound=nn.Module)


class Drawn(Dataset, ABC):
    """Samples `start` to `end` of a run. Each is drawn by its own generator, so that it is the same
    whether or not the run was stopped before it."""

    def __init__(self, seed: int, start: int, end: int) -> None:
        self._seed, self._start, self._end = seed, start, end

    def __len__(self) -> int:
        return self._end - self._start

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        cv2.setNumThreads(1)
        return self.draw(np.random.default_rng([self._seed, self._start + index]))

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> tuple[Tensor, ...]:
        """What is shown, and what is wanted of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the optimiser."""

    saved: Path
    """Where its state is kept; a run that was stopped goes on from there."""
    samples: int
    batch: int
    workers: int
    peak_rate: float
    """The highest learning rate."""

    @property
    def steps(self) -> int:
        return self.samples // self.batch

    def rate(self, step: int) -> float:
        """A short rise, then half a cosine to zero. The first step is step 1."""
        if step <= _WARM_UP:
            return self.peak_rate * step / _WARM_UP
        far = (step - 1 - _WARM_UP) / max(self.steps - _WARM_UP, 1)
        return self.peak_rate * 0.5 * (1 + math.cos(math.pi * far))


def fit(
    net: Net,
    data: Callable[[int, int], Drawn],
    losses: Callable[..., Mapping[str, Tensor]],
    run: Run,
) -> Net:
    """The network after that many samples, its weights averaged over the last ones.

    `data(start, end)` gives samples by their numbers: pictures, and what is wanted of them.
    `losses` takes what the network says of a batch, and what is wanted; its parts are added up.
    """
    net.to(DEVICE, memory_format=torch.channels_last)
    optimiser = _optimiser(net, run.peak_rate)
    average = copy.deepcopy(net)
    state: dict[str, Any] = {"net": net, "average": average, "optimiser": optimiser}
    begun = _restore(state, run.saved)
    loader = _loader(data, begun * run.batch, max(begun, run.steps) * run.batch, run)
    batches = track(loader, "training", total=max(begun, run.steps), completed=begun)
    sums: Counter[str] = Counter()  # of each part of the loss, since the last line
    net.train()
    for step, (shown, *wanted) in enumerate(batches, begun + 1):
        for group in optimiser.param_groups:
            group["lr"] = run.rate(step)
        pictures = shown.to(DEVICE, non_blocking=True).float()
        # A processor with AVX-512 takes half as long so.
        with torch.autocast(DEVICE.type, torch.bfloat16):
            said = net(pictures.to(memory_format=torch.channels_last))
        parts = losses(said, *(part.to(DEVICE, non_blocking=True) for part in wanted))
        optimiser.zero_grad(set_to_none=True)
        torch.stack(list(parts.values())).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        _follow(average, net, min(0.998, (step + 1) / (step + 10)))
        sums.update({name: part.detach() for name, part in parts.items()})
        if step % _REPORTED == 0:
            means = "  ".join(
                f"{name} {float(all_) / _REPORTED:.4f}" for name, all_ in sums.items()
            )
            print(f"step {step}/{run.steps}  {means}", flush=True)
            sums.clear()
            _save(state, step, run.saved)
    if begun < run.steps or not run.saved.exists():
        _save(state, run.steps, run.saved)
    return average.cpu().eval()


def _optimiser(net: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Weights decay; what only scales or shifts a layer does not."""
    decayed = [p for p in net.parameters() if p.ndim > 1]
    plain = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate)


def _restore(state: Mapping[str, Any], saved: Path) -> int:
    """Load a saved state where there is one; returns how many steps it has."""
    saved.parent.mkdir(parents=True, exist_ok=True)
    if not saved.exists():
        return 0
    kept = torch.load(saved, DEVICE, weights_only=True)
    for name, part in state.items():
        part.load_state_dict(kept[name])
    return int(kept["step"])


def _save(state: Mapping[str, Any], step: int, saved: Path) -> None:
    kept = {name: part.state_dict() for name, part in state.items()}
    torch.save(kept | {"step": step}, saved.with_suffix(".part"))
    saved.with_suffix(".part").replace(saved)


def _loader(data: Callable[[int, int], Drawn], start: int, end: int, run: Run) -> DataLoader:
    return DataLoader(
        data(start, end), run.batch,
        num_workers=run.workers, prefetch_factor=4 if run.workers else None,
        # A fork of this process, with OpenCV's threads, never ends.
        multiprocessing_context="forkserver" if run.workers else None,
        pin_memory=DEVICE.type == "cuda",
    )  # fmt: skip


def averaged(checkpoint: Path) -> dict[str, Tensor]:
    """The averaged weights of a saved state."""
    return dict(torch.load(checkpoint, "cpu", weights_only=True)["average"])


@torch.no_grad()
def _follow(average: nn.Module, net: nn.Module, keep: float) -> None:
    """Move the averaged weights, which are the ones that ship, towards the trained ones."""
    both = (average.state_dict().values(), net.state_dict().values())
    kept, new = ([part for part in parts if part.is_floating_point()] for parts in both)
    get_ema_multi_avg_fn(keep)(kept, new, None)
