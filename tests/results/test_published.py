"""The papers' numbers: each has a source, none is out of range, and the headline is what the paper says."""

from __future__ import annotations

from results.published import load_published


def test_published_numbers_have_sources_and_are_percentages() -> None:
    papers = load_published()
    assert papers
    for paper in papers:
        assert paper.unit == "percent"
        for number in paper.numbers:
            assert number.source
            assert 0 <= number.value <= 100
        names = [(n.benchmark, n.agent, n.what) for n in paper.numbers]
        assert len(names) == len(set(names))


def test_the_headline() -> None:
    (dynaweb,) = [paper for paper in load_published() if paper.paper.startswith("DynaWeb")]
    ours = [n for n in dynaweb.numbers if n.agent == "DynaWeb-8B" and n.source.startswith("Tables")]
    main = {n.benchmark: n.value for n in ours if "GitHub" not in n.what}
    assert main == {"webarena": 31.0, "webvoyager": 38.7}
