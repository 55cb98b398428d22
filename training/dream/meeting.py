"""All live dreams advance together: each runs in a thread of its own, and whoever asks waits until everyone has asked.

    dream 0  ──ask("policy", o)──┐                 ┌── answer ──ask("world model", q)──┐
    dream 1  ──ask("policy", o)──┤  one batch each │                                   ┆  …
    dream 2  ──leave()           ┘                 └

So models see full batches, while every dream is the plain `run_episode` that a real episode is. What is in a batch depends on
the dreams alone and never on which thread was faster: a batch is served only when nobody can add to it, in the dreams' order.
Of several kinds that were asked, only the first of the meeting is served; the others wait for those who will soon ask the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Serve = Callable[[list[Any]], Sequence[Any]]
"""Requests → one answer each, in order."""


class Meeting:
    """A meeting of `members` threads, numbered from 0; `serve` maps each kind of question to what answers a batch of it.

    The order of the kinds is their order of service: what others wait for comes first, what ends a dream last.
    """

    def __init__(self, members: int, serve: Mapping[str, Serve]) -> None:
        self._serve = dict(serve)
        self._present = members
        self._asked: dict[int, tuple[str, Any]] = {}
        self._answers: dict[int, Any] = {}
        self._turn = threading.Condition()

    def ask(self, member: int, kind: str, request: Any) -> Any:
        """The answer to `request`, after everyone present has asked. What `serve` raises is raised for all of that batch."""
        with self._turn:
            self._asked[member] = (kind, request)
            self._serve_if_complete()
            while member not in self._answers:
                self._turn.wait()
            answer = self._answers.pop(member)
        if isinstance(answer, _Raised):
            raise answer.error
        return answer

    def leave(self) -> None:
        """This member will not ask again. Each member must leave exactly once, whatever happened to it."""
        with self._turn:
            self._present -= 1
            self._serve_if_complete()

    def _serve_if_complete(self) -> None:
        """Called with the lock held: the last one to arrive does the work, everyone else is waiting for it anyway."""
        if not self._asked or len(self._asked) < self._present:
            return
        kinds = {kind for kind, _ in self._asked.values()}
        kind = next(kind for kind in self._serve if kind in kinds)
        members = sorted(member for member, (of, _) in self._asked.items() if of == kind)
        requests = [self._asked.pop(member)[1] for member in members]
        try:
            answers = list(self._serve[kind](requests))
            if len(answers) != len(members):
                raise RuntimeError(f"{len(members)} questions to the {kind} got {len(answers)} answers")
        except BaseException as error:  # noqa: BLE001  handed to those who asked, each of which raises it
            answers = [_Raised(error)] * len(members)
        self._answers.update(zip(members, answers, strict=True))
        self._turn.notify_all()


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error
