"""Grids as data: what is refused, which stages cells share, and what a key depends on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from audits.ablation import Plan, read_grid
from audits.ablation.fingerprint import fingerprint, fingerprints
from harness.errors import UsageError
from tests.audits.ablation.grids import BASE, DREAM, REAL, grid, planned

NOWHERE = Path("nowhere")


def plan(*stages: dict[str, Any], **fields: Any) -> Plan:
    return planned(grid(*stages, **fields), NOWHERE)[0]


def ids(found: Plan, name: str) -> list[str]:
    return [stage.id for stage in found.stages.values() if stage.name == name]


def test_cells_share_what_they_are_told_alike() -> None:
    found = plan(seeds=[0, 1])
    assert len(found.cells) == 4
    assert [len(ids(found, name)) for name in ("base", "dream", "real")] == [2, 4, 2]
    assert {found.users()[stage_id] for stage_id in ids(found, "base")} == {2}
    assert {found.users()[stage_id] for stage_id in ids(found, "dream")} == {1}


def test_a_stage_knows_what_it_needs_and_where_it_writes() -> None:
    found = plan()
    (base,) = ids(found, "base")
    dream = found.stages[ids(found, "dream")[1]]
    assert dream.needs == (base,)
    assert dream.command == ("write", f"nowhere/stages/{dream.id}", f"nowhere/stages/{base}", "5", "0")
    assert found.cells[1].stages == (base, dream.id, ids(found, "real")[0])


def test_a_stage_that_no_word_of_the_level_leads_to_is_not_run() -> None:
    """World model {trained, copy}: the second one trains none."""
    levels = {"trained": {"length": "{base}"}, "copy": {"length": "copy"}}
    dream = {**DREAM, "command": ["write", "{out}", "{length}"]}
    found = plan(BASE, dream, {**REAL, "command": ["write", "{out}"]}, levels=levels)
    assert [len(cell.stages) for cell in found.cells] == [3, 2]
    assert found.stages[ids(found, "dream")[1]].command[-1] == "copy"


def test_a_config_is_filled_in_and_is_part_of_the_key() -> None:
    told = {**DREAM, "command": ["write", "{out}", "{config}"], "config": "[dream]\nlength = {length}\nclip = { low = 0.2 }\n"}
    one, five = (plan(BASE, told, REAL).stages[stage_id] for stage_id in ids(plan(BASE, told, REAL), "dream"))
    assert one.config == "[dream]\nlength = 1\nclip = { low = 0.2 }\n"
    assert one.command[-1] == f"nowhere/stages/{one.id}.toml"
    assert one.key != five.key


@given(seed=st.integers(0, 9), length=st.integers(0, 9), other=st.integers(0, 9))
def test_a_key_changes_exactly_with_what_a_stage_is_told(seed: int, length: int, other: int) -> None:
    first = plan(seeds=[seed], levels={"a": {"length": length}})
    second = plan(seeds=[seed], levels={"b": {"length": other}})
    assert ids(first, "base") == ids(second, "base")
    assert (ids(first, "dream") == ids(second, "dream")) == (length == other)


def test_a_key_follows_earlier_stages_and_inputs_but_no_place(tmp_path: Path) -> None:
    for name, content in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(content)
    base = {**BASE, "command": ["write", "{out}", "{data}"]}

    def keys(name: str, root: str) -> list[str]:
        return list(planned(grid(base, DREAM, REAL, inputs={"data": str(tmp_path / name)}), Path(root))[0].stages)

    assert keys("a", "here") == keys("b", "there"), "equal content, another place"
    assert not set(keys("a", "here")) & set(keys("c", "here")), "what is read by the first stage is in every key"


def test_a_fingerprint_is_of_content(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_text("x")
    before = fingerprint(tmp_path)
    for name in ("lock", "index.jsonl", ".hidden"):
        (tmp_path / name).write_text("changes while it is read")
    os.utime(tmp_path / "deep" / "file", (1, 1))
    assert fingerprint(tmp_path) == before
    (tmp_path / "deep" / "file").rename(tmp_path / "deep" / "other")
    assert fingerprint(tmp_path) != before
    with pytest.raises(UsageError, match="input data: cannot read"):
        fingerprints({"data": str(tmp_path / "none")})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"stages": [BASE, DREAM]}, "0 stages give 'real'"),
        ({"stages": [BASE, DREAM, REAL, {**REAL, "name": "again"}]}, "2 stages give 'real'"),
        ({"stages": [DREAM, BASE, REAL]}, "speaks of base, which comes no earlier"),
        ({"stages": [BASE, {**DREAM, "command": ["write", "{nothing}"]}, REAL]}, "nothing is called nothing"),
        ({"stages": [BASE, {**DREAM, "command": ["write", "{config}"]}, REAL]}, "without a config"),
        ({"levels": {"1": {"length": 1}, "2": {"width": 2}}}, "not every level names length, width, and no value does"),
        ({"values": {"base": "x"}}, "named twice: base"),
        ({"values": {"out": "x"}}, "named twice: out"),
        ({"values": {"a b": "x"}}, "no name for a word"),
        ({"values": {"x": "{y}"}}, "x: nothing is called y"),
        ({"levels": {"1": {"length": "{real}"}}}, "speaks of real, which comes no earlier"),
        ({"seeds": [1, 1]}, "a seed is there twice"),
        ({"reference": "2"}, "no level is called '2'"),
        ({"seeds": []}, "seeds"),
    ],
)
def test_what_is_no_grid_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        grid(**fields)


def test_a_level_may_name_what_is_a_value_elsewhere() -> None:
    made = plan(values={"length": 3}, levels={"usual": {}, "long": {"length": 9}})
    assert [next(made.stages[one].command for one in cell.stages if one.startswith("dream")) for cell in made.cells[:2]] == [
        next(s.command for s in plan(levels={"x": {"length": n}}).stages.values() if s.name == "dream") for n in (3, 9)
    ]


def test_a_grid_stands_over_what_it_extends(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "all.toml").write_text(
        """seeds = [0, 1]
[values]
length = 1
width = 2
[[stages]]
name = "dream"
command = ["dream", "{length}", "{width}", "{out}"]
gives = "dreamed"
[[stages]]
name = "real"
command = ["run", "{seed}", "{out}"]
gives = "real"
"""
    )
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nfactor = "f"\nextends = "common/all.toml"\nseeds = [7]\n[values]\nlength = 5\n[levels.a]\n')
    found = read_grid(own)
    assert (found.seeds, found.values, [stage.name for stage in found.stages]) == (
        (7,),
        {"length": 5, "width": 2},
        ["dream", "real"],
    )
    own.write_text('name = "own"\nfactor = "f"\nextends = "common/none.toml"\n')
    with pytest.raises(UsageError, match=r"cannot read what own\.toml extends"):
        read_grid(own)


def test_a_file_that_is_no_grid_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    for content, why in (("[", "not TOML"), ("name = 'x'", "Field required"), ("name = 'x'\nnames = 1", "names|Field")):
        path.write_text(content)
        with pytest.raises(UsageError, match=why) as raised:
            read_grid(path)
        assert "\n" not in str(raised.value)
    with pytest.raises(UsageError, match="cannot read the grid"):
        read_grid(tmp_path / "none.toml")
