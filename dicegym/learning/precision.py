"""In which numbers networks are trained: bfloat16 only where the processor computes with them."""

from __future__ import annotations

import warnings

import llvmlite.binding
import torch

from dicegym.engine.validate import one_of

AUTO = "auto"
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
COMPUTES = ("avx512bf16", "amx-bf16", "avx10.2", "bf16")
"""Instructions for products of bfloat16 as LLVM names them: Intel's and AMD's, then Arm's."""


def computes_bfloat16(device: torch.device) -> bool:
    """Return whether products of bfloat16 are computed as such, not put together from others, on this device."""
    if device.type == "cpu":
        has = llvmlite.binding.get_host_cpu_features()  # PyTorch tells them only in its latest versions
        return any(has.get(name, False) for name in COMPUTES)
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def check_precision(precision: str) -> str:
    """Return ``precision``. Raises ParameterError unless it is `AUTO` or one of `PRECISIONS`."""
    return one_of("precision", precision, [AUTO, *PRECISIONS])


def number_type(precision: str, device: torch.device) -> torch.dtype:
    """Return the type of numbers that ``precision`` means on this device; "auto": bfloat16 where it is quick.

    Warns where bfloat16 is asked for and the processor has no instructions for it: a product of 2048 x 512 x 512
    numbers then took 835 ms instead of the 13.5 ms of float32 (AMD EPYC without AVX-512, medians of 9).
    """
    quick = computes_bfloat16(device)
    if precision == AUTO:
        return torch.bfloat16 if quick else torch.float32
    if PRECISIONS[precision] is torch.bfloat16 and not quick:
        warnings.warn(
            f"precision='bfloat16' will be many times slower than float32: this {device.type} has no instructions for "
            "it. Give precision='auto', which takes bfloat16 only where it is quick",
            stacklevel=2,
        )
    return PRECISIONS[precision]
