"""What lies below a directory is found by its marker, whatever its name, and never by walking through episodes or links."""

from __future__ import annotations

from pathlib import Path

from results import discovery
from results.discovery import discover
from tests.results.factory import make_run, plan, task


def test_every_kind_is_found_at_any_depth_and_named_by_its_directory(tmp_path: Path) -> None:
    make_run(tmp_path / "a" / "run", plan([task("t")]), ["success"])
    for marker in ("audit.json", "fidelity.json", "ablation.json", "train_log.jsonl"):
        (tmp_path / "b" / marker).parent.mkdir(exist_ok=True)
        (tmp_path / "b" / marker).write_text("")
    found = discover(tmp_path)
    assert found.complete
    assert {(item.kind, item.name) for item in found.found} == {
        ("run", "a/run"), ("audit", "b"), ("fidelity", "b"), ("ablation", "b"), ("training", "b"),
    }  # fmt: skip


def test_the_root_may_be_a_run_itself(tmp_path: Path) -> None:
    make_run(tmp_path / "run", plan([task("t")]), ["success"])
    assert [item.name for item in discover(tmp_path / "run").of("run")] == ["."]


def test_a_run_without_a_manifest_is_found_so_that_it_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "broken" / "episodes").mkdir(parents=True)
    assert [item.name for item in discover(tmp_path).of("run")] == ["broken"]


def test_episodes_hidden_directories_and_links_are_not_entered(tmp_path: Path) -> None:
    make_run(tmp_path / "run", plan([task("t")]), ["success"])
    (tmp_path / "run" / "episodes" / "t__A__r0__a0" / "audit.json").write_text("")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "audit.json").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [item.kind for item in discover(tmp_path).found] == ["run"]


def test_the_walk_is_bounded_and_says_so(tmp_path: Path, monkeypatch: object) -> None:
    for n in range(9):
        (tmp_path / str(n)).mkdir()
    before = discovery.MAX_DIRECTORIES
    try:
        discovery.MAX_DIRECTORIES = 5
        assert not discover(tmp_path).complete
    finally:
        discovery.MAX_DIRECTORIES = before
    assert discover(tmp_path).complete


def test_nothing_is_there(tmp_path: Path) -> None:
    assert discover(tmp_path / "nowhere").found == ()


def test_names_are_printable_and_no_two_are_alike(tmp_path: Path) -> None:
    for name in ("a\u202eb", "ab", "a\x07b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "audit.json").write_text("")
    found = discover(tmp_path).of("audit")
    assert sorted(item.name for item in found) == ["ab", "ab (2)", "ab (3)"]
    assert {item.directory.name for item in found} == {"a\u202eb", "ab", "a\x07b"}
