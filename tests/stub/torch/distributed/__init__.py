# SPDX-License-Identifier: Apache-2.0
"""Processes that train together, on one machine: rank 0 adds up what all have."""

import array
import os
import socket
import time

_peers = []  # of rank 0: all others, by rank; of the others: rank 0


def is_available():
    return True


def is_initialized():
    return bool(_peers)


def get_rank():
    return int(os.environ["RANK"])


def get_world_size():
    return int(os.environ["WORLD_SIZE"])


def init_process_group(backend=None):
    address = "\0torch-stub-" + os.environ["MASTER_PORT"]
    if get_rank() > 0:
        _peers.append(_connected(address))
        return
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(get_world_size())
        _peers.extend(server.accept()[0] for _ in range(get_world_size() - 1))


def _connected(address):
    while True:
        peer = socket.socket(socket.AF_UNIX)
        try:
            peer.connect(address)
            return peer
        except ConnectionRefusedError:
            peer.close()
            time.sleep(0.01)


def all_reduce(tensor):
    """Sums over all ranks; waits until each of them has asked for it."""
    if get_rank() > 0:
        _peers[0].sendall(tensor._values.tobytes())
        tensor._overwrite(_received(_peers[0], tensor.numel()))
        return
    parts = [tensor._values] + [_received(peer, tensor.numel()) for peer in _peers]
    tensor._overwrite([sum(values) for values in zip(*parts)])
    for peer in _peers:
        peer.sendall(tensor._values.tobytes())


def _received(peer, count):
    data = peer.recv(8 * count, socket.MSG_WAITALL)
    if len(data) < 8 * count:
        raise RuntimeError("Connection closed by peer")
    return array.array("d", data)
