# SPDX-License-Identifier: Apache-2.0
"""The channel to autotune: JSON documents, one per line, over a unix socket."""

import json
import os
import socket
import time

BEAT_S = 0.2  # between two signs of life


class Channel:
    """One end of the channel, of the process that opened it alone: a fork closes its copy."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._pulled = b""
        self._beats = 0
        self._beat_s = 0.0
        os.register_at_fork(after_in_child=self._socket.close)

    def send(self, message):
        """Sends one document; raises OSError where the other end is gone."""
        # Names of files need not be UTF-8, but the document must be.
        self._socket.sendall(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def receive(self):
        """Waits for the next document; None where the other end is gone."""
        while b"\n" not in self._pulled:
            try:
                block = self._socket.recv(1 << 14)
            except ConnectionError:
                return None
            if not block:
                return None
            self._pulled += block
        line, self._pulled = self._pulled.split(b"\n", 1)
        return json.loads(line)

    def beat(self):
        """To be called after each batch: tells at times that this process goes on."""
        self._beats += 1
        now_s = time.perf_counter()
        if now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self.send({"beat": self._beats})
