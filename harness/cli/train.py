"""`harness train`: make a world model, or improve an agent. One file per subcommand."""

from __future__ import annotations

import typer

from harness.cli.train_agent import agent
from harness.cli.train_agent_sft import agent_sft
from harness.cli.train_world_model import world_model

app = typer.Typer(
    name="train",
    help="Train a world model on real transitions, or an agent in its dreams.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("world-model")(world_model)
app.command("agent-sft")(agent_sft)
app.command("agent")(agent)


@app.callback()
def _group() -> None:
    """Keeps `world-model` a subcommand, however many there are."""
