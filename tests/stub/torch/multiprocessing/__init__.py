# SPDX-License-Identifier: Apache-2.0
"""Processes that train."""

from .spawn import spawn  # noqa: F401
