"""The forum's tasks: what oracles read off flat lists, and that a wrong value makes a wrong answer in every task."""

from __future__ import annotations

from random import Random

import pytest

from harness.benchmarks.arena.collection import task_rows, templates_of
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.hands import Hands, OracleLost
from harness.benchmarks.arena.template import Template
from harness.types import Observation

TEMPLATES = tuple(templates_of("forum").values())

LIST = """RootWebArea 'Latest active topics'
\t[1] banner ''
\t\t[2] link 'The Common Room'
\t\t[3] link 'morgan_hale \uf078'
\t[4] link 'Leeks for beginners'
\t[5] link 'Gardening'
\tStaticText '\uf075'
\tStaticText '12'
\tStaticText '\uf017'
\tStaticText '1 Mar 2026, 12:33'
\tStaticText '\uf023'
\t[6] link 'Chain wax: where do I start?'
\t[7] link 'Cycling'
\tStaticText '\uf075'
\tStaticText '3'"""

RESULTS = """RootWebArea 'Search'
\t[4] link 'Leeks for beginners'
\tStaticText 'Gardening'
\tStaticText '\uf075'
\tStaticText '12'"""

TOPIC = """RootWebArea 'Leeks for beginners'
\t[1] link 'morgan_hale \uf078'
\t[2] heading 'Leeks for beginners'
\t[3] link 'otto_quilldale \uf130'
\t[4] paragraph ''
\t\tStaticText 'I paid 12 crowns.'
\t[5] link '\uf004 like (0)'
\t[6] link 'tobias_wren \uf132'
\t[7] link '\uf004 like (3)'
\t[8] link 'morgan_hale'
\t[9] link 'edit'
\tStaticText 'Page 1 of 1'
\t[10] link 'morgan_hale'
\t[11] textbox 'Write comment...'"""


def hands(tree: str) -> Hands:
    o = Hands(Random(0), "http://forum.localhost:1/", {})
    o.see(Observation(url="http://forum.localhost:1/", axtree=tree))
    return o


def test_counts_and_categories_are_read_off_lists_with_and_without_category_links() -> None:
    assert steps.comment_counts(hands(LIST)) == {"Leeks for beginners": 12, "Chain wax: where do I start?": 3}
    assert steps.listed_categories(hands(LIST)) == ["Gardening", "Cycling"]
    assert steps.comment_counts(hands(RESULTS)) == {"Leeks for beginners": 12}


def test_authors_are_those_of_comments_not_the_menu_nor_the_reply_form() -> None:
    assert steps.author_names(hands(TOPIC)) == ["otto_quilldale", "tobias_wren", "morgan_hale"]
    assert steps.opener_name(hands(TOPIC)) == "otto_quilldale"


def test_a_comment_is_acted_on_by_its_own_link() -> None:
    (like,) = steps.act_on_comment(hands(TOPIC), "tobias_wren", "like")
    (edit,) = steps.act_on_comment(hands(TOPIC), "morgan_hale", "edit")
    assert (like.arguments["bid"], edit.arguments["bid"]) == ("7", "9")
    with pytest.raises(OracleLost, match="no comment by nobody_here"):
        list(steps.act_on_comment(hands(TOPIC), "nobody_here", "like"))


def test_there_are_enough_templates_of_every_kind() -> None:
    assert len(TEMPLATES) >= 14
    assert {template.kind for template in TEMPLATES} == {"information", "navigation", "content", "configuration"}
    unachievable = sum(template.count for template in TEMPLATES if template.unachievable)
    assert unachievable / sum(template.count for template in TEMPLATES) >= 0.05


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.id)
def test_what_the_nearly_right_oracle_is_told_has_another_outcome(template: Template) -> None:
    for row in task_rows(template, "train"):
        values = row["instantiation_dict"]
        assert isinstance(values, dict)
        wrong = template.nearly(values)
        if not template.unachievable:
            assert template.expected(wrong)["eval_types"] == template.expected(values)["eval_types"]
            assert template.expected(wrong) != template.expected(values)


def test_questions_have_one_answer() -> None:
    """Whoever is asked about has written once where it matters; leaders lead."""
    for topic in facts.world().public_topics:
        comment = facts.single_author(topic)
        if comment is not None:
            assert [c.user for c in facts.comments_of(topic)].count(comment.user) == 1
        kinds = [c.fact[0] for c in facts.comments_of(topic) if c.fact]
        assert len(set(kinds)) == len(kinds)
