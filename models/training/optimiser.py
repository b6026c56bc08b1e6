"""The loop in which every network here learns: it averages the weights, saves, and goes on.

Owns: steps, averaged weights, the saved state, `curve.csv` with the parts of the loss. Must not
know: what a network is shown and asked.
"""

from __future__ import annotations

import copy
import csv
import time
from abc import ABC, abstractmethod
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
    rate: Callable[[int, int], float]
    """The learning rate of a step of so many; the first is step 1."""
    keep: Callable[[int], float]
    """The share of the averaged weights that stays at a step."""


def fit(
    net: Net,
    optimiser: torch.optim.Optimizer,
    data: Callable[[int, int], Drawn],
    losses: Callable[..., Mapping[str, Tensor]],
    run: Run,
) -> Net:
    """The network after that many samples, its weights averaged over the last ones.

    `data(start, end)` gives samples by their numbers, each a tuple of tensors; `losses` takes a
    batch of them, one argument each. Its parts are added up.
    """
    net.to(DEVICE)
    average = copy.deepcopy(net)
    state: dict[str, Any] = {"net": net, "average": average, "optimiser": optimiser}
    run.saved.parent.mkdir(parents=True, exist_ok=True)
    begun, steps = 0, run.samples // run.batch
    if run.saved.exists():
        kept = torch.load(run.saved, DEVICE, weights_only=True)
        begun = int(kept["step"])
        for name, part in state.items():
            part.load_state_dict(kept[name])

    def save(step: int) -> None:
        kept = {name: part.state_dict() for name, part in state.items()}
        torch.save(kept | {"step": step}, run.saved.with_suffix(".part"))
        run.saved.with_suffix(".part").replace(run.saved)

    loader = DataLoader(
        data(begun * run.batch, max(begun, steps) * run.batch), run.batch,
        num_workers=run.workers, prefetch_factor=4 if run.workers else None,
        # A fork of this process, with OpenCV's threads, never ends.
        multiprocessing_context="forkserver" if run.workers else None,
        pin_memory=DEVICE.type == "cuda",
    )  # fmt: skip
    began, sums = time.monotonic(), dict[str, Tensor]()
    net.train()
    with run.saved.with_name("curve.csv").open("a", newline="") as log:
        write = csv.writer(log)
        batches = track(loader, "training", total=max(begun, steps), completed=begun)
        for step, batch in enumerate(batches, begun + 1):
            for group in optimiser.param_groups:
                group["lr"] = run.rate(step, steps)
            parts = losses(*(part.to(DEVICE, non_blocking=True) for part in batch))
            optimiser.zero_grad(set_to_none=True)
            torch.stack(list(parts.values())).sum().backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            _follow(average, net, run.keep(step))
            for name, part in parts.items():
                sums[name] = part.detach() + sums.get(name, 0.0)
            if step % _REPORTED == 0:
                seconds = time.monotonic() - began
                means = {name: f"{float(total) / _REPORTED:.4f}" for name, total in sums.items()}
                write.writerow([step, f"{seconds:.0f}", *means.values()])
                log.flush()
                line = "  ".join(map(" ".join, means.items()))
                print(f"step {step}/{steps} {seconds:.0f} s  {line}", flush=True)
                sums.clear()
                save(step)
    if begun < steps or not run.saved.exists():
        save(steps)
    return average.cpu().eval()


def averaged(checkpoint: Path) -> dict[str, Tensor]:
    """The averaged weights of a saved state."""
    return dict(torch.load(checkpoint, "cpu", weights_only=True)["average"])


@torch.no_grad()
def _follow(average: nn.Module, net: nn.Module, keep: float) -> None:
    """Move the averaged weights, which are the ones that ship, towards the trained ones."""
    both = (average.state_dict().values(), net.state_dict().values())
    kept, new = ([part for part in parts if part.is_floating_point()] for parts in both)
    get_ema_multi_avg_fn(keep)(kept, new, None)
