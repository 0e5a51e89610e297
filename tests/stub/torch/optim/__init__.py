# SPDX-License-Identifier: Apache-2.0
"""Optimizers."""

from .optimizer import SGD  # noqa: F401
