"""Answers are stored once, survive a crash, and are never mixed with those of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.fidelity import Answers, Asked, claim, read_asked, spread
from audits.fidelity.answers import PREDICTIONS
from harness.errors import NotReadyError, UsageError
from tests.audits.fidelity.factory import Told, knows, page, row

ROWS = [row(page(f"button '{n}'"), "noop()", page(f"button '{n}!'"), step=n) for n in range(10)]
QUESTIONS = [(f"teacher {n}", r.query) for n, r in enumerate(ROWS)]
ASKED = Asked(spec="told", name="told", version="1", data="d", split="test", samples=1)


def test_what_was_asked_once_is_not_asked_again(tmp_path: Path) -> None:
    model = knows(*ROWS)
    first = Answers(tmp_path, model, batch=3)
    seen: list[tuple[int, int]] = []
    rows = first.answer(QUESTIONS[:7], lambda done, total: seen.append((done, total)))
    assert [r.predictions[0].next_observation for r in rows if r] == [r.next_observation for r in ROWS[:7]]
    assert (model.batches, seen[0], seen[-1]) == ([3, 3, 1], (0, 7), (7, 7))
    again = Answers(tmp_path, model, batch=3)
    assert again.answer(QUESTIONS)[:7] == rows
    assert model.asked == 10
    assert Answers(tmp_path, None).answer(QUESTIONS) == again.answer(QUESTIONS)
    assert model.asked == 10


def test_without_a_model_what_is_missing_stays_missing(tmp_path: Path) -> None:
    assert Answers(tmp_path, None).answer(QUESTIONS[:2]) == [None, None]


def test_one_question_asked_twice_is_one_question(tmp_path: Path) -> None:
    model = knows(*ROWS)
    assert len(Answers(tmp_path, model).answer([QUESTIONS[0], QUESTIONS[0]])) == 2
    assert model.asked == 1


@pytest.mark.parametrize("lost", [1, 20, 200])
def test_a_torn_last_batch_is_asked_again_and_the_rest_is_kept(tmp_path: Path, lost: int) -> None:
    model = knows(*ROWS)
    Answers(tmp_path, model, batch=5).answer(QUESTIONS)
    path = tmp_path / PREDICTIONS
    path.write_bytes(path.read_bytes()[:-lost])
    assert sum(row is not None for row in Answers(tmp_path, None).answer(QUESTIONS)) == 5, "reading alone repairs nothing"
    healed = Answers(tmp_path, model, batch=5)
    assert all(healed.answer(QUESTIONS))
    assert model.asked == 15
    assert all(Answers(tmp_path, None).answer(QUESTIONS))


def test_a_backend_that_goes_down_loses_only_its_batch(tmp_path: Path) -> None:
    class Dies(Told):
        def predict(self, queries, samples=1):  # type: ignore[no-untyped-def]
            if self.asked >= 4:
                raise NotReadyError("the server does not answer", fix="start it")
            return super().predict(queries, samples)

    with pytest.raises(NotReadyError, match="does not answer"):
        Answers(tmp_path, Dies(knows(*ROWS).answers), batch=2).answer(QUESTIONS)
    assert sum(row is not None for row in Answers(tmp_path, None).answer(QUESTIONS)) == 4


def test_a_line_that_is_no_prediction_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    from results.files import gzipped

    (tmp_path / PREDICTIONS).write_bytes(gzipped('{"key": "x", "surprise": 1}\n'))
    with pytest.raises(UsageError, match=r"predictions\.jsonl\.gz"):
        Answers(tmp_path, None)


def test_a_folder_belongs_to_one_model_data_set_and_number_of_samples(tmp_path: Path) -> None:
    place = tmp_path / "told"
    with claim(place, ASKED):
        assert read_asked(place) == ASKED
        with pytest.raises(NotReadyError, match="another process"), claim(place, ASKED):
            pass
    with claim(place, ASKED):
        pass
    for change in ({"version": "2"}, {"data": "e"}, {"samples": 2}):
        with pytest.raises(UsageError, match=next(iter(change))), claim(place, ASKED.model_copy(update=change)):
            pass
    (place / "asked.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="damaged"):
        read_asked(place)
    assert read_asked(tmp_path / "nobody") is None


def test_a_sample_depends_on_names_alone_and_grows() -> None:
    names = [f"episode/{n}" for n in range(100)]
    some = spread(names, 20, key=str)
    assert some == sorted(spread(reversed(names), 20, key=str), key=names.index)
    assert set(some) < set(spread(names, 40, key=str))
    assert len({int(name.split("/")[1]) // 25 for name in some}) == 4, "from everywhere"
    assert spread(names, None, key=str) == spread(names, 1000, key=str) == names
