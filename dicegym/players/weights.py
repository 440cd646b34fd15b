"""Tensors in the files of PyTorch, read as data alone. Needs the extra ``train``.

``torch.load`` reads with ``weights_only``, which runs nothing but what PyTorch has on a list. Some of that list can
still be asked for more memory than there is, and PyTorch finds its way through a zip otherwise than Python does. So a
file is looked through first, and handed over as a fresh zip of what was seen.
"""

from __future__ import annotations

import io
import pickletools
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from dicegym.errors import ModelError, one_line
from dicegym.players.archive import ModelArchive

_INSTRUCTIONS = frozenset(
    (
        *("PROTO", "STOP", "MARK", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "BINPERSID", "REDUCE", "BUILD"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT", "BINUNICODE"),
        *("EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("APPEND", "APPENDS", "SETITEM", "SETITEMS", "GLOBAL"),
    )
)
"""What PyTorch writes dictionaries of tensors and numbers with."""
_NAMES = re.compile(r"collections OrderedDict|torch\._utils _rebuild_tensor_v2|torch [A-Z][A-Za-z0-9]*Storage")
_MOST_DESCRIBED = 1 << 20
"""Bytes of what describes the tensors of a file, without their numbers."""
_MOST_SHARED = 8
"""Of how many tensors, on average, the same numbers may be parts: policies list a shared extractor three times."""
_KEPT = re.compile(r"[^/]+/(data\.pkl|byteorder|version|\.format_version|\.storage_alignment|data/\d+)")


def tensors_in(content: bytes, called: str) -> Any:
    """Return what ``torch.save`` wrote of dictionaries, lists, numbers and tensors, on the CPU.

    Args:
        content: the bytes of the file.
        called: what errors call it.

    Raises:
        ModelError: it is damaged, holds anything else, tensors that are not what they promise, or numbers that are
            not finite.
    """
    import torch

    fresh = io.BytesIO(_looked_through(content, called))
    try:
        found = torch.load(fresh, map_location="cpu", weights_only=True)
        _check_tensors(found, len(content))
    except Exception as error:  # whatever PyTorch says of a damaged file
        _refuse(called, f"{type(error).__name__}: {one_line(error, 120)}")
    return found


def state_in(content: bytes, called: str) -> dict[str, Any]:
    """Return the tensors by name that a module's ``state_dict`` had; see `tensors_in`."""
    import torch

    found = tensors_in(content, called)
    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in found.items()
    ):
        _refuse(called, "it holds no tensors by name")
    return dict(found)


def check_optimizer(state: Any, optimizer: Any, called: str) -> None:
    """Raise ModelError unless ``state`` is what an optimizer like ``optimizer`` says of itself.

    What it remembers of each weight has that weight's shape; its settings are of the same kind as they are now.
    """
    import torch

    fresh = optimizer.state_dict()
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    if not isinstance(state, dict) or set(state) != set(fresh) or not isinstance(state["state"], dict):
        _refuse(called, "it is no state of an optimizer")
    groups = state["param_groups"]
    if not isinstance(groups, list) or len(groups) != len(fresh["param_groups"]):
        _refuse(called, "it is that of an optimizer of other weights")
    for group, wanted in zip(groups, fresh["param_groups"], strict=True):
        if not isinstance(group, dict) or set(group) - {"initial_lr"} != set(wanted) - {"initial_lr"}:
            _refuse(called, "it is that of another kind of optimizer")
        for name, value in wanted.items():
            if not _alike(group.get(name, value), value):
                _refuse(called, f"its {name} is {one_line(group[name], 60)}, where {one_line(value, 60)} stood")
    for number, remembered in state["state"].items():
        if not isinstance(number, int) or not 0 <= number < len(weights) or not isinstance(remembered, dict):
            _refuse(called, "it remembers of weights that there are not")
        for name, value in remembered.items():
            fits = isinstance(value, int | float) or (
                isinstance(value, torch.Tensor) and value.shape in (weights[number].shape, torch.Size([]))
            )
            if not (isinstance(name, str) and fits):
                _refuse(called, f"what it remembers of weight {number} has another shape")


def _alike(value: Any, wanted: Any) -> bool:
    """Return whether a setting is of the kind of ``wanted``: a number for a number, the same for anything else."""
    if isinstance(wanted, tuple | list):
        several = isinstance(value, tuple | list) and len(value) == len(wanted)
        return several and all(_alike(one, other) for one, other in zip(value, wanted, strict=True))
    if isinstance(wanted, float) or (isinstance(wanted, int) and not isinstance(wanted, bool)):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(wanted) and value == wanted


def _looked_through(content: bytes, called: str) -> bytes:
    """Return a zip of what is needed of a file. Raises ModelError for one that ``torch.save`` would not write."""
    with ModelArchive(content, called, most=None) as archive:
        kept = {name: archive.read(name) for name in archive.names if _KEPT.fullmatch(name)}
    folders = {name.partition("/")[0] for name in kept}
    if len(folders) != 1:
        _refuse(called, "it is no file of PyTorch")
    folder = folders.pop()
    if f"{folder}/data.pkl" not in kept or kept.get(f"{folder}/byteorder", b"little") != b"little":
        _refuse(called, "it is no file of PyTorch, or one of a machine that writes numbers the other way round")
    _check_described(kept[f"{folder}/data.pkl"], called)
    fresh = io.BytesIO()
    with zipfile.ZipFile(fresh, "w") as archive:
        for name, member in kept.items():
            archive.writestr(name, member)
    return fresh.getvalue()


def _check_described(described: bytes, called: str) -> None:
    """Raise ModelError if what describes the tensors names or does anything beyond that."""
    if len(described) > _MOST_DESCRIBED:
        _refuse(called, f"what describes its tensors has {len(described):,} bytes")
    try:
        with warnings.catch_warnings(action="ignore"):  # of what looks odd in texts
            instructions = [(one.name, argument) for one, argument, _ in pickletools.genops(described)]
    except (ValueError, IndexError) as error:
        _refuse(called, one_line(error))
    for name, argument in instructions:
        if name not in _INSTRUCTIONS:
            _refuse(called, f"it holds the instruction {name}")
        if name == "GLOBAL" and not _NAMES.fullmatch(str(argument)):
            _refuse(called, f"it names {one_line(str(argument), 80)!r}, which is no tensor")


def _check_tensors(found: Any, size: int) -> None:
    """Raise ValueError for tensors that promise more numbers than a file of ``size`` bytes has, or no finite ones."""
    import torch

    total = 0
    for tensor in _tensors(found):
        if type(tensor) is not torch.Tensor or tensor.layout != torch.strided or tensor.device.type != "cpu":
            raise ValueError("it holds something else than plain tensors")
        total += tensor.numel() * tensor.element_size()
        if total > _MOST_SHARED * size:
            raise ValueError("its tensors promise more numbers than it holds")
    for tensor in _tensors(found):
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError("its numbers are not all finite")


def _tensors(found: Any) -> Iterator[Any]:
    """Yield all tensors in nested dictionaries, lists and tuples. Raises ValueError for values of another kind."""
    import torch

    waiting, steps = [found], 0
    while waiting:
        one, steps = waiting.pop(), steps + 1
        if steps > _MOST_DESCRIBED:  # what holds itself would never end
            raise ValueError("it is nested without an end")
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one
        elif not isinstance(one, bool | int | float | str | None):
            raise ValueError(f"it holds {type(one).__name__}, which is no plain value")


def _refuse(called: str, reason: str) -> NoReturn:
    raise ModelError(
        f"{called} holds no weights that can be read as data ({reason}): get the file again from where it came from"
    ) from None
