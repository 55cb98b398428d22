"""Episodes per second and memory per worker, beside stock BrowserGym and bare Playwright, in one run.

    python benchmarks/throughput.py [--rounds 8] [--quick] [--only NAME …] [--no-memory]

Goals: ≥ 3.5 × stock BrowserGym (a fresh environment per episode, as AgentLab runs it), ≥ 0.8 × bare Playwright doing the same
observations, memory per worker ≤ half of stock.

A rehearsal finds one script per task and seed. In each round every contender (contenders.py) plays the same scripts, one
contender at a time, in an order that rotates, so that slow drift of the machine hits all alike. Every contender must earn the
rehearsal's rewards, and bare Playwright must see the same trees. Intervals: 95 %, bootstrap over rounds; ratios are paired by
round. Memory is measured afterwards (memory.py). Contenders:
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from contenders import CONTENDERS, Player, Round, full_chromium
from memory import measure_memory
from scripted import TASKS, Script, rehearse

from harness.envs.chromium import find_chromium

MEMORY_ROUNDS = 2

Rounds = dict[str, list[Round]]


def measure_times(names: Sequence[str], scripts: dict[int, list[Script]], browser: str) -> Rounds:
    """Rounds of every contender, in the order of the seeds; seed 0 only warms up."""
    players = {name: Player(name, browser) for name in names}
    found: Rounds = {name: [] for name in names}
    for player in players.values():
        player.play(scripts[1][:1], scripts[0][:1])
    for seed in range(1, len(scripts)):
        shift = seed % len(names)
        for name in [*names[shift:], *names[:shift]]:
            found[name].append(players[name].play(scripts[seed], scripts[seed - 1]))
        rates = ", ".join(f"{name} {len(scripts[seed]) / found[name][-1].seconds:.2f}" for name in names)
        print(f"round {seed} of {len(scripts) - 1}, episodes/s: {rates}", flush=True)
    for player in players.values():
        player.close()
    return found


def main() -> None:
    options = argparse.ArgumentParser(
        description=(__doc__ or "") + "".join(f"    {name}\n" for name in CONTENDERS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--rounds", type=int, default=8)
    options.add_argument("--quick", action="store_true", help="two rounds of three tasks: does it still work?")
    options.add_argument("--only", nargs="+", metavar="NAME", choices=CONTENDERS, default=list(CONTENDERS))
    options.add_argument("--no-memory", action="store_true")
    chosen = options.parse_args()
    names = [name for name in chosen.only if full_chromium() or name != "stock, full chromium"]
    rounds, tasks = (2, TASKS[::3]) if chosen.quick else (chosen.rounds, TASKS)
    load = os.getloadavg()[0]
    chromium = find_chromium()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # Playwright wants a process of its own
        scripts = pool.submit(rehearse, tasks, range(rounds + 1), chromium.path).result()
    times = measure_times(names, scripts, chromium.path)
    memory = {} if chosen.no_memory else measure_memory(names, scripts, chromium.path, seeds=range(1, 1 + MEMORY_ROUNDS))

    from tables import report  # here: contenders import this file anew, and their memory must not hold scipy

    print("\n" + report(times, memory, scripts, tasks, chromium, load))


if __name__ == "__main__":
    main()
