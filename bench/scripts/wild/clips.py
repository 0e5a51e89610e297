# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: samples that wait for a store, or that cost computing."""

import time

import torch
from torch.utils.data import Dataset


def busy(seconds):
    """CPU time, not wall time: with more processes than cores each computes as much as before."""
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        pass


class Clips(Dataset):
    """Samples of 128 floats; each costs wait_s of waiting and compute_s of computing."""

    def __init__(self, samples, wait_s=0.0, compute_s=0.0):
        self.samples, self.wait_s, self.compute_s = samples, wait_s, compute_s

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        if self.wait_s:
            time.sleep(self.wait_s)
        if self.compute_s:
            busy(self.compute_s)
        return torch.full((128,), float(index % 7)), index % 10


def network():
    return torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
