"""What the network is told about its mistakes.

Owns: the losses and their weights. Must not know: data, schedules.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SHARES = {
    "heat": 1.5, "place": 1.0, "size": 2.0, "shape": 2.0, "value": 3.0, "flat": 4.0, "down": 6.0,
    "parts": 1.0,
}  # fmt: skip
"""Weights of the parts, chosen so that none dwarfs another after the first thousand steps."""

_NOT_FLAT_WEIGHT = 2.0
"""A cocked die counts for two flat ones: rarer in every set, and the costlier one to miss."""


def losses(
    found: tuple[Tensor, Tensor, Tensor],
    heat: Tensor,
    shape: Tensor,
    face: Tensor,
    down_weight: Tensor,
    parts_wanted: Tensor,
) -> dict[str, Tensor]:
    """Each part of the loss with its weight; arguments as in `targets.Maps`, batched."""
    peaks, faces, cells = (maps.float() for maps in found)
    parts = {"heat": _heat_loss(peaks[:, 0], heat[:, 0], heat[:, 1])}
    weight = shape[:, 0]
    total = weight.sum().clamp(min=1.0)
    gap = functional.smooth_l1_loss(peaks[:, 1:], shape[:, 1:], beta=0.05, reduction="none")
    gap = gap * weight[:, None]
    parts["place"] = gap[:, 0:2].sum() / total
    parts["size"] = gap[:, 2].sum() / total
    parts["shape"] = gap[:, 3:7].sum() / total
    value = functional.cross_entropy(
        faces[:, :6], face[:, 1].long(), reduction="none", label_smoothing=0.02
    )
    parts["value"] = (value * face[:, 0]).sum() / face[:, 0].sum().clamp(min=1.0)
    flat = functional.binary_cross_entropy_with_logits(faces[:, 6], face[:, 3], reduction="none")
    told = face[:, 2] * torch.where(face[:, 3] > 0.5, 1.0, _NOT_FLAT_WEIGHT)
    parts["flat"] = (flat * told).sum() / told.sum().clamp(min=1.0)
    # 0.05 radii is 2 degrees of lean: a smaller lean must pull at full strength.
    lean = functional.smooth_l1_loss(faces[:, 7:9], face[:, 4:6], beta=0.05, reduction="none")
    parts["down"] = (lean * down_weight).sum() / down_weight.sum().clamp(min=1.0)
    parts["parts"] = functional.cross_entropy(cells, parts_wanted, ignore_index=3)
    return {name: SHARES[name] * part for name, part in parts.items()}


def _heat_loss(logits: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    """Focal loss that forgives heat near a centre (Law and Deng 2018, CornerNet, eq. 1)."""
    p = torch.sigmoid(logits).clamp(1e-5, 1 - 1e-5)
    centre = (wanted >= 0.999).float()
    hit = centre * (1 - p) ** 2 * torch.log(p)
    miss = (1 - centre) * (1 - wanted) ** 4 * p**2 * torch.log(1 - p)
    return -((hit + miss) * weight).sum() / centre.sum().clamp(min=1.0)
