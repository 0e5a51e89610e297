# SPDX-License-Identifier: Apache-2.0
"""Data."""

from . import data  # noqa: F401
