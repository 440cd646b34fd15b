"""Forward and backward passes through actor and critic, a few hundred decisions at a time: as much as a cache holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from dicegym.learning.fast_ppo import kernels
from dicegym.learning.fast_ppo.layers import ACTIVATIONS, Dense, Networks

CHUNK = 512
"""Decisions that go through the networks together."""


class Inputs(NamedTuple):
    """Observations of decisions, as vectors and, if they are mostly zeros, as lists of what is not."""

    dense: torch.Tensor
    """float32[decisions, size]"""
    begins: np.ndarray
    """int64[decisions + 1]; see `dicegym.learning.fast_ppo.kernels.append_rows`."""
    inputs: np.ndarray
    """uint16 or int32"""
    values: np.ndarray
    """float32"""
    sparse: bool


class Losses(NamedTuple):
    """What a minibatch's loss is made of, beside its decisions; see `dicegym.learning.fast_ppo.kernels`."""

    masks: np.ndarray
    actions: np.ndarray
    old_log_probs: np.ndarray
    old_values: np.ndarray
    returns: np.ndarray
    anchor: np.ndarray
    clip: np.float32
    clip_values: np.float32
    ent_coef: np.float32
    vf_coef: np.float32
    kl_coef: np.float32


class Front:
    """The first layers of actor and critic as one, which reads the observation once.

    Args:
        networks: views of the parameters.
        size: of an observation.
        privileged: how many inputs at the end the critic alone has.
    """

    def __init__(self, networks: Networks, size: int, privileged: int) -> None:
        self._layers = networks.actor[0], networks.critic[0]
        self.split = len(networks.actor[0].bias)
        self.units = self.split + len(networks.critic[0].bias)
        self._seen = size - privileged, size
        self.weight = torch.zeros(size, self.units)
        self.bias = torch.zeros(self.units)
        self.refresh()

    def refresh(self) -> None:
        """Read the parameters anew."""
        for layer, (part, bias), seen in zip(
            self._layers, self._parts(self.weight, self.bias), self._seen, strict=True
        ):
            part[:seen].copy_(layer.weight.t())
            bias.copy_(layer.bias)

    def _parts(self, weight: torch.Tensor, bias: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the actor's and the critic's part of weights and bias."""
        return [(weight[:, : self.split], bias[: self.split]), (weight[:, self.split :], bias[self.split :])]

    def give_back(self, weight: torch.Tensor, bias: torch.Tensor, gradient: Networks) -> None:
        """Add slopes by the layer's weights and bias to the gradient of the parameters."""
        layers = gradient.actor[0], gradient.critic[0]
        for layer, (part, of_bias), seen in zip(layers, self._parts(weight, bias), self._seen, strict=True):
            layer.weight.add_(part[:seen].t())
            layer.bias.add_(of_bias)


class Passes:
    """What one thread computes in: its buffers, and its share of the gradient.

    Args:
        networks: views of the parameters, which are read as they are at each call.
        front: their first layers.
        gradient: views of a vector of the parameters' size, which `backward` adds to.
        activation: the class of torch.nn that stands between layers.
    """

    def __init__(self, networks: Networks, front: Front, gradient: Networks, activation: type[torch.nn.Module]) -> None:
        self._networks, self._front, self._gradient = networks, front, gradient
        self._activate, self._through = ACTIVATIONS[activation]
        size = len(front.weight)
        n_actions = len(networks.actor[-1].bias)
        self._x = torch.empty(CHUNK, size)
        self._first, self._first_slopes = torch.empty(CHUNK, front.units), torch.empty(CHUNK, front.units)
        self._hidden = [
            [torch.empty(CHUNK, len(layer.bias)) for layer in tower[1:-1]]
            for tower in (networks.actor, networks.critic)
        ]
        self._slopes = [[torch.empty_like(one) for one in tower] for tower in self._hidden]
        self._logits, self._values = torch.empty(CHUNK, n_actions), torch.empty(CHUNK, 1)
        self._front_weight, self._front_bias = torch.zeros_like(front.weight), torch.zeros_like(front.bias)
        self._ends = np.zeros(size, np.int64)
        self._places, self._factors = np.empty(CHUNK * size, np.int32), np.empty(CHUNK * size, np.float32)
        self._scratch = np.empty((2, n_actions), np.float32)
        self._bits = np.empty(n_actions, np.int32)
        self._exp = self._scratch, self._bits, self._bits.view(np.float32)
        self.told = np.zeros(6)
        """Sums over decisions; see `dicegym.learning.fast_ppo.kernels.policy_slopes`."""

    def clear(self) -> None:
        """Begin a gradient."""
        self._front_weight.zero_()
        self._front_bias.zero_()

    def finish(self) -> None:
        """Add the first layers' part to the gradient."""
        self._front.give_back(self._front_weight, self._front_bias, self._gradient)

    def forward(self, inputs: Inputs, rows: np.ndarray, critic: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (float32[n, n_actions]) and values (float32[n, 1]) of at most `CHUNK` decisions.

        Both are buffers, which the next call changes; without ``critic`` the values are not computed.
        """
        n, first, split = len(rows), self._first[: len(rows)], self._front.split
        if inputs.sparse:
            where = inputs.begins, inputs.inputs, inputs.values, rows
            kernels.sum_rows(*where, self._front.weight.numpy(), self._front.bias.numpy(), first.numpy())
        else:
            x = torch.index_select(inputs.dense, 0, torch.from_numpy(rows), out=self._x[:n])
            torch.addmm(self._front.bias, x, self._front.weight, out=first)
        self._activate(first.numpy())
        towers = (self._networks.actor, self._networks.critic)
        starts = (first[:, :split], first[:, split:])
        heads = (self._logits[:n], self._values[:n])
        for tower, start, buffers, head in list(zip(towers, starts, self._hidden, heads, strict=True))[: 1 + critic]:
            y = start
            for layer, buffer in zip(tower[1:-1], buffers, strict=True):
                y = torch.addmm(layer.bias, y, layer.weight.t(), out=buffer[:n])
                self._activate(y.numpy())
            torch.addmm(tower[-1].bias, y, tower[-1].weight.t(), out=head)
        return heads

    def backward(self, inputs: Inputs, rows: np.ndarray, advantages: np.ndarray, share: float, losses: Losses) -> None:
        """Add the slopes of at most `CHUNK` decisions' loss to the gradient, and what is told of it to ``told``.

        Args:
            inputs: observations of all decisions.
            rows: int64[n], which decisions.
            advantages: float32[n], theirs.
            share: what a decision counts for.
            losses: see there.
        """
        n, split = len(rows), self._front.split
        logits, values = self.forward(inputs, rows)
        actor, critic = self._gradient.actor[-1], self._gradient.critic[-1]
        kernels.policy_slopes(
            logits.numpy(),
            rows,
            losses.masks,
            losses.actions,
            losses.old_log_probs,
            advantages,
            losses.anchor,
            losses.clip,
            losses.ent_coef,
            losses.kl_coef,
            np.float32(share),
            actor.bias.numpy(),
            self.told,
            *self._exp,
        )
        of_values = values.numpy()[:, 0]
        weight = np.float32(losses.vf_coef * share)
        kernels.value_slopes(of_values, rows, losses.returns, losses.old_values, losses.clip_values, weight, self.told)
        critic.bias.add_(values.sum())
        first, first_slopes = self._first[:n], self._first_slopes[:n]
        for tower, gradient, start, start_slopes, buffers, slopes, head in zip(
            (self._networks.actor, self._networks.critic),
            (self._gradient.actor, self._gradient.critic),
            (first[:, :split], first[:, split:]),
            (first_slopes[:, :split], first_slopes[:, split:]),
            self._hidden,
            self._slopes,
            (logits, values),
            strict=True,
        ):
            before = [start, *(one[:n] for one in buffers)]
            found = [start_slopes, *(one[:n] for one in slopes)]
            self._back(tower, gradient, before, found, head)
        self._through(first.numpy(), first_slopes.numpy(), self._front_bias.numpy())
        if inputs.sparse:
            where = self._ends, self._places, self._factors
            kernels.group_by_input(inputs.begins, inputs.inputs, inputs.values, rows, *where)
            kernels.add_outer_rows(*where, first_slopes.numpy(), self._front_weight.numpy())
        else:
            self._front_weight.addmm_(self._x[:n].t(), first_slopes)

    def _back(
        self,
        tower: list[Dense],
        gradient: list[Dense],
        before: list[torch.Tensor],
        found: list[torch.Tensor],
        slopes: torch.Tensor,
    ) -> None:
        """Go back through a tower, from the head's ``slopes`` to those behind the first layer.

        Args:
            tower: all layers, whose first is not gone through.
            gradient: theirs, which is added to.
            before: what each but the first read.
            found: in the same order, where slopes by that are put.
            slopes: by the head's outputs; its bias is done.
        """
        for number in reversed(range(len(before))):
            y, out = before[number], found[number]
            gradient[number + 1].weight.addmm_(slopes.t(), y)
            slopes = torch.mm(slopes, tower[number + 1].weight, out=out)
            if number:
                self._through(y.numpy(), out.numpy(), gradient[number].bias.numpy())

    def draw(self, masks: np.ndarray, uniforms: np.ndarray, actions: np.ndarray, log_probs: np.ndarray) -> None:
        """Draw actions by the logits of the latest `forward`; see `dicegym.learning.fast_ppo.kernels.draw`."""
        kernels.draw(self._logits.numpy()[: len(masks)], masks, uniforms, actions, log_probs, *self._exp)

    def log_softmax(self, masks: np.ndarray, out: np.ndarray) -> None:
        """Set ``out`` to log-probabilities by the latest `forward`; see `dicegym.learning.fast_ppo.kernels`."""
        kernels.log_softmax(self._logits.numpy()[: len(masks)], masks, out, *self._exp)
