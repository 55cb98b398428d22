"""Retrieval: which transition is nearest, what its edits do here, what happens where they do not fit, examples in a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.fidelity import read_page, score
from harness.completions import Completions, EndpointConfig
from harness.errors import NotReadyError, UsageError
from harness.predictions import WorldModelQuery
from harness.types import Observation
from tests.audits.fidelity.dataset import episode, lamps, shop, write_dataset
from tests.audits.fidelity.factory import on, page
from tests.support.openai_server import OpenAIServer, Reply, chat
from training.world_model.formats import get_format
from training.world_model.model import load
from training.world_model.model.baselines import CopyWorldModel, RandomWorldModel
from training.world_model.model.neighbours import Neighbours, example_name
from training.world_model.model.prompted import PromptedRetrieval, prompted, through
from training.world_model.model.retrieval import RetrievalWorldModel
from training.world_model.transitions import WorldModelExample

KNOWN: list[WorldModelExample] = [e for n in range(3) for e in episode(f"e{n}", f"t{n}", f"tea {n}").examples()]


def ask(now: Observation, action: str, site: str = "shop") -> WorldModelQuery:
    return WorldModelQuery(observation=now, action=on(now, action), site=site)


def retrieval(examples: list[WorldModelExample] = KNOWN) -> RetrievalWorldModel:
    return RetrievalWorldModel(examples, lambda memory: get_format("edits", memory=memory))


def test_the_same_action_on_the_same_element_comes_first() -> None:
    near = Neighbours(KNOWN).nearest(ask(shop("sofa"), "click('2')"), 3)
    assert [example_name(each) for each in near] == ["r/e2/1", "r/e1/1", "r/e0/1"], "ticked before; the latest first"
    assert len(Neighbours(KNOWN)) == len(KNOWN)


def test_then_the_same_role_then_the_same_action_then_nothing() -> None:
    index = Neighbours(KNOWN)
    other = page("[7] checkbox 'New', checked='false'", url="http://elsewhere.localhost/", title="Elsewhere")
    assert index.nearest(ask(other, "click('7')", site="elsewhere"), 1)[0].query.action.target.role == "checkbox"  # type: ignore[union-attr]
    assert index.nearest(ask(other, "send_msg_to_user('x')"), 1)[0].query.action.name == "send_msg_to_user"
    assert index.nearest(ask(other, "go_back()"), 1) == []
    assert Neighbours([]).nearest(ask(other, "click('7')"), 3) == []


def test_edits_of_the_nearest_transition_are_applied_to_this_page() -> None:
    model = retrieval()
    now = shop(agreed=True, opened=True)
    typed, opened = (model.predict([ask(now, action)])[0][0] for action in ("fill('1', 'sofa bed')", "click('4')"))
    assert typed.next_observation is not None
    assert read_page(typed.next_observation).nodes == read_page(shop("sofa bed", agreed=True, opened=True)).nodes
    assert opened.next_observation is not None
    assert read_page(opened.next_observation).same_as(read_page(lamps()))
    assert opened.retrieved.endswith("/lamps/")
    assert typed.rationale.startswith("as in r/")
    assert not typed.malformed


def test_what_does_not_fit_is_malformed_and_never_a_copy() -> None:
    alone = retrieval([e for e in KNOWN if e.query.action.raw == "click('4')"])
    elsewhere = page("[4] link 'Beds'", url="http://elsewhere.localhost/", title="Beds")
    found = alone.predict([ask(elsewhere, "go_back()")])[0][0]
    assert found.next_observation is None
    assert found.malformed == "no transition to retrieve"
    only_lists = retrieval([e for e in KNOWN if e.query.action.raw == "click('3')"])
    closed = page("[9] button 'Buy'", url="http://shop.localhost/", title="Shop")
    fitted = only_lists.predict([ask(closed, "click('9')")])[0][0]
    assert (fitted.next_observation is None) == bool(fitted.malformed)


def test_equal_queries_get_equal_answers_and_samples_are_as_many_as_asked() -> None:
    query = ask(shop(), "click('2')")
    answers = retrieval().predict([query, query], samples=2)
    assert [len(each) for each in answers] == [2, 2]
    assert len({answer.model_dump_json(exclude={"usage"}) for each in answers for answer in each}) == 1
    assert retrieval().predict([]) == []


def test_copy_foresees_the_same_page_without_its_old_error() -> None:
    now = shop().model_copy(update={"last_action_error": "gone"})
    (answer,) = CopyWorldModel().predict([ask(now, "click('2')")])[0]
    assert answer.next_observation == shop()
    assert score(KNOWN[0], [CopyWorldModel().predict([KNOWN[0].query])[0][0]]).foreseen_change is False


def test_models_by_name(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "shop")
    assert load("copy").name == "copy"
    assert load(f"retrieval:{data}").name == "retrieval"
    with pytest.raises(UsageError, match="cannot read"):
        load(f"retrieval:{data}+{tmp_path / 'none.toml'}")


def test_examples_go_into_the_prompt_and_the_reply_is_read_as_edits() -> None:
    with OpenAIServer([chat("check it"), chat("nonsense")]) as server:
        client = Completions(EndpointConfig(base_url=server.base_url, model="any"))
        model = PromptedRetrieval(retrieval(), through(client), "any")
        query = ask(shop("sofa"), "click('2')")
        good, bad = model.predict([query], samples=2)[0]
        asked = server.requests[0].json["messages"][0]["content"]
        client.close()
    assert good.next_observation is not None
    assert read_page(good.next_observation).nodes == read_page(shop("sofa", agreed=True)).nodes
    assert (bad.next_observation, bool(bad.malformed)) == (None, True)
    assert (good.usage.prompt_tokens, good.usage.completion_tokens) == (100, 10)
    assert asked.count("### Question") == 4
    assert asked.count("check it") == 3
    assert asked.endswith("### Answer")


def test_a_server_that_is_away_is_not_ready_and_no_malformed_answer() -> None:
    with OpenAIServer([Reply(status=500)], repeat_last=True) as server:
        client = Completions(EndpointConfig(base_url=server.base_url, model="any", max_retries=0), sleep=lambda _: None)
        with pytest.raises(NotReadyError, match="does not answer"):
            PromptedRetrieval(retrieval(), through(client), "any").predict([ask(shop(), "click('2')")])
        client.close()


@pytest.mark.parametrize(("text", "why"), [("model = 3", "model: "), ("= x", "not TOML")])
def test_a_wrong_server_file_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=why):
        prompted(retrieval(), file)


def test_random_shows_some_page_of_the_site_and_the_same_one_again() -> None:
    random = RandomWorldModel(KNOWN)
    pages = {(row.next_observation.url, row.next_observation.axtree) for row in KNOWN}
    asked = [row.query.model_copy(update={"seed": seed}) for row in KNOWN for seed in range(8)]
    answers = random.predict(asked, samples=2)
    shown = [
        (said.next_observation.url, said.next_observation.axtree) for row in answers for said in row if said.next_observation
    ]
    assert len(shown) == 2 * len(asked)
    assert set(shown) == pages, "each is shown sooner or later"
    assert answers == random.predict(asked, samples=2)
    assert any(row[0] != row[1] for row in answers)
    assert RandomWorldModel([]).predict(asked[:1])[0][0].malformed == "training saw no page"
