"""Train the network on rendered scenes and, if asked, on photographs.

    python -m models.training.train --scenes var/scenes/raster-1-… --images 200000 --out var/run1

Owns: the optimiser, its schedule, checkpoints. A stopped run goes on from its last checkpoint;
sample number i is the same in every run with the same seed and sources.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor
from torch.utils.data import DataLoader

from models.training.losses import SHARES, losses
from models.training.network import DieNet
from models.training.samples import Samples, SampleSource, photo_source, scene_source

BATCH = 24
WARM_UP = 300
CHECKPOINT_EVERY = 250


def rate(step: int, steps: int, peak: float) -> float:
    """Learning rate: a short rise, then half a cosine to zero."""
    if step < WARM_UP:
        return peak * (step + 1) / WARM_UP
    return peak * 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / max(steps - WARM_UP, 1)))


@torch.no_grad()
def follow(average: DieNet, net: DieNet, step: int) -> None:
    """Move the averaged weights, which are the ones that ship, towards the trained ones."""
    keep = min(0.998, (step + 1) / (step + 10))
    for kept, new in zip(average.state_dict().values(), net.state_dict().values(), strict=True):
        if kept.dtype.is_floating_point:
            kept.lerp_(new, 1 - keep)
        else:
            kept.copy_(new)


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
    out.mkdir(parents=True, exist_ok=True)
    net, average = DieNet(), DieNet()
    if begin is not None:
        _take_over(net, torch.load(begin, weights_only=True)["average"])
    average.load_state_dict(net.state_dict())
    net = net.to(memory_format=torch.channels_last)
    decayed = [p for p in net.parameters() if p.ndim > 1]
    plain = [p for p in net.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}],
        lr=peak_rate,
    )
    steps, step = images // BATCH, 0
    latest = out / "latest.pt"
    if latest.exists():
        state = torch.load(latest, weights_only=True)
        net.load_state_dict(state["net"])
        average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    samples = Samples(sources, size, seed, step * BATCH, steps * BATCH)
    loader = DataLoader(samples, BATCH, num_workers=workers, prefetch_factor=4 if workers else None)
    net.train()
    sums: dict[str, float] = {}
    began = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with bar, (out / "curve.csv").open("a", newline="") as log:
        write = csv.writer(log)
        task = bar.add_task("training", total=steps, completed=step)
        for pictures, *wanted in loader:
            for group in optimiser.param_groups:
                group["lr"] = rate(step, steps, peak_rate)
            with torch.autocast("cpu", torch.bfloat16):
                found = net(pictures.float().to(memory_format=torch.channels_last))
            parts = losses(found, *wanted)
            loss = sum((SHARES[name] * part for name, part in parts.items()), torch.zeros(()))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            step += 1
            follow(average, net, step)
            for name, part in parts.items():
                sums[name] = sums.get(name, 0.0) + float(part.detach())
            bar.update(task, completed=step)
            if step % 50 == 0:
                means = {name: total / 50 for name, total in sums.items()}
                seconds = time.monotonic() - began
                write.writerow([step, f"{seconds:.0f}", *(f"{m:.4f}" for m in means.values())])
                log.flush()
                line = " ".join(f"{name} {mean:.3f}" for name, mean in means.items())
                bar.console.print(f"step {step}/{steps} {seconds:.0f} s  {line}")
                sums = {}
            if step % CHECKPOINT_EVERY == 0 or step == steps:
                state = {
                    "net": net.state_dict(),
                    "average": average.state_dict(),
                    "optimiser": optimiser.state_dict(),
                    "step": step,
                }
                torch.save(state, latest.with_suffix(".new"))
                latest.with_suffix(".new").replace(latest)
    return latest


def _take_over(net: DieNet, weights: dict[str, Tensor]) -> None:
    """Start from other weights; layers whose shape has changed keep their fresh ones."""
    own = net.state_dict()
    fitting = {k: v for k, v in weights.items() if k in own and own[k].shape == v.shape}
    net.load_state_dict(own | fitting)
    print(f"took over {len(fitting)} of {len(own)} tensors")


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Train the die finder.")
    parser.add_argument("--scenes", nargs="+", default=[], metavar="FOLDER[=SHARE]")
    parser.add_argument("--photos", nargs="*", default=[], metavar="FOLDER[=SHARE]")
    parser.add_argument("--guesses", type=Path, help="corners for the photographs")
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--begin", type=Path, help="start from this checkpoint's weights")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("var/run"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    sources = [scene_source(*_shared(text)) for text in given.scenes]
    for text in given.photos:
        folder, share = _shared(text)
        sources.append(photo_source(folder, given.guesses, share))
    for source in sources:
        print(f"{source.name}: {len(source.rows)} pictures, share {source.share}")
    print(
        train(sources, given.out, given.images, given.size, given.seed, given.rate, given.begin,
              given.workers)
    )  # fmt: skip


def _shared(text: str) -> tuple[Path, float]:
    folder, _, share = text.partition("=")
    return Path(folder), float(share or 1.0)


if __name__ == "__main__":
    main()
