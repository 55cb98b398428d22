"""Peak memory of a worker: PSS (private pages plus a share of shared ones) of its whole process tree, each contender alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import psutil
from contenders import Player
from scripted import Script

SAMPLE_SECONDS = 0.2
WORKER_MODULE = "harness.worker"


class Memory(NamedTuple):
    """Largest PSS seen of one process tree, in bytes, and how many processes it had then."""

    peak: int
    processes: int


def measure_memory(
    names: Sequence[str], scripts: dict[int, list[Script]], browser: str, *, seeds: Sequence[int]
) -> dict[str, Memory]:
    """Contender → the largest of its workers, or of the contender itself where it is its own worker."""
    found = {}
    for name in names:
        player = Player(name, browser)
        sampler = _Sampler(player.pid, workers_only=name.startswith("harness"))
        for seed in seeds:
            player.play(scripts[seed], scripts[seed - 1])
        found[name] = sampler.stop()
        player.close()
        print(f"memory of {name}: {found[name].peak / 2**20:.0f} MiB", flush=True)
    return found


class _Sampler:
    def __init__(self, pid: int, *, workers_only: bool) -> None:
        self._root, self._workers_only = psutil.Process(pid), workers_only
        self._peak = Memory(0, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> Memory:
        self._stop.set()
        self._thread.join()
        return self._peak

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            trees = self._workers() if self._workers_only else [self._root]
            self._peak = max([self._peak, *map(_pss, trees)])

    def _workers(self) -> list[psutil.Process]:
        found = []
        for child in self._root.children():
            try:
                if WORKER_MODULE in child.cmdline():
                    found.append(child)
            except psutil.Error:
                continue
        return found


def _pss(root: psutil.Process) -> Memory:
    total = count = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return Memory(0, 0)
    for process in processes:
        try:
            total += process.memory_full_info().pss
            count += 1
        except psutil.Error:
            continue  # it ended between listing and looking
    return Memory(total, count)
