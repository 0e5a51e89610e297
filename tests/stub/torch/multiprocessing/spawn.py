# SPDX-License-Identifier: Apache-2.0
"""Starts processes by the method of its name, and waits for their end."""

import multiprocessing


def start_processes(fn, args=(), nprocs=1):
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=fn, args=(rank, *args), daemon=True) for rank in range(nprocs)]
    for process in started:
        process.start()
    for process in started:
        process.join()


def spawn(fn, args=(), nprocs=1):
    start_processes(fn, args, nprocs)
