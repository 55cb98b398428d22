"""What the documents show is true: links lead somewhere, command lines parse, configurations load, Python compiles."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness.assembly import BENCHMARKS
from harness.config import build_config
from harness.policies import PolicyConfig
from tests.docs.markdown import anchors, blocks, inline_code, links
from tests.support.command_lines import commands, lines_in, parse
from tests.support.repository import ROOT, files, text_of
from training.agent.config import RolloutSection

# Prompts are Markdown too, but for a model.
DOCUMENTS = [path for path in files("*.md") if "prompts" not in path.parts]
REPOSITORY_FOLDERS = ("configs/", "examples/", "scripts/", "tests/")


def text(path: Path) -> str:
    found = text_of(path)
    assert found is not None, f"{path} is not UTF-8"
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_relative_links_lead_to_a_file_and_a_heading(path: Path) -> None:
    for target in links(text(path)):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            assert parts.scheme == "https", target
            continue
        there = (ROOT / path.parent / parts.path).resolve() if parts.path else ROOT / path
        assert there.is_relative_to(ROOT), f"{target} leaves the repository"
        assert there.exists(), f"{target} does not exist"
        if parts.fragment:
            assert parts.fragment in anchors(text(there.relative_to(ROOT))), f"{target}: no such heading"


def shown_lines(path: Path) -> list[str]:
    """Command lines in code, fenced or inline; `…` and `<…>` stand for something, so such lines are no lines."""
    found = [line for block in blocks(text(path)) if block.language != "python" for line in lines_in(block.body)]
    for line in (line for code in inline_code(text(path)) for line in lines_in(code)):
        if len(line.split()) == 2:  # the name of a command, not a line to type
            assert line.split()[1] in {name.split()[0] for name in commands()}, line
        else:
            found.append(line)
    return [line for line in found if not re.search(r"…|\.\.\.|<|--help", line)]


@pytest.mark.parametrize("path", [*DOCUMENTS, *files("configs/*.toml", "examples/*.toml", "examples/*.py")], ids=str)
def test_command_lines_parse(path: Path) -> None:
    lines = shown_lines(path) if path.suffix == ".md" else list(lines_in(text(path)))
    for line in lines:
        values = parse(line)
        bench = str(values.get("bench") or "")
        assert not bench or bench in BENCHMARKS or bench.startswith("gym:"), line
        for word in line.split():
            if word.startswith(REPOSITORY_FOLDERS) and "." in word:
                assert (ROOT / word).exists(), f"{line}: {word} does not exist"


def test_the_documents_do_show_command_lines() -> None:
    """A parser of documents that finds nothing would accept everything."""
    assert sum(len(shown_lines(path)) for path in DOCUMENTS) > 30
    assert shown_lines(Path("docs/webvoyager.md"))[0] == "harness fetch webvoyager"


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_configurations_in_documents_load(path: Path) -> None:
    for block in blocks(text(path)):
        if block.language == "toml":
            data = tomllib.loads(block.body)
            if "rollouts" in data:  # a part of configs/agent/*.toml
                RolloutSection.model_validate(data["rollouts"])
            elif "name" in data:
                PolicyConfig.model_validate(data)
            else:
                build_config(data, source=str(path))


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_python_in_documents_compiles_and_its_imports_exist(path: Path) -> None:
    for block in blocks(text(path)):
        if block.language == "python":
            compile(block.body, str(path), "exec")
            ours = re.findall(r"^(?:from|import) (?:harness|results)\b.*$", block.body, re.MULTILINE)
            exec("\n".join(ours), {})


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_files_that_a_document_names_exist(path: Path) -> None:
    """`harness/…`, `results/…`, `tests/…` in code: a renamed module must not live on in the documents."""
    for code in inline_code(text(path)):
        if re.fullmatch(r"(?:harness|results|tests|scripts|benchmarks|configs|examples|docs)/[\w/.*-]+", code):
            assert list(ROOT.glob(code.rstrip("/"))), f"{path}: {code} does not exist"


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_objects_that_a_document_names_exist(path: Path) -> None:
    """`harness.module.name` in code resolves."""
    from pydoc import locate

    for code in inline_code(text(path)):
        name = code.partition("(")[0]
        if re.fullmatch(r"(?:harness|results)(?:\.\w+)+", name):
            assert locate(name) is not None, f"{path}: {name} does not exist"


def test_every_page_is_in_the_index() -> None:
    index = links(text(Path("docs/README.md")))
    pages = {path.name for path in DOCUMENTS if path.parent == Path("docs")} - {"README.md"}
    assert pages == {target for target in index if "/" not in target and target.endswith(".md")}
