"""Colours that people with any colour vision tell apart (Okabe and Ito 2008); meaning is never in the colour alone."""

from __future__ import annotations

from typing import Final

from results.outcomes import State

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
YELLOW: Final = "#F0E442"
GREY: Final = "#8C8C8C"

SERIES: Final = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY)
"""For lines without a meaning of their own, in this order."""

REAL: Final = BLUE
DREAMED: Final = PURPLE

STATE: Final[dict[State, str]] = {
    "success": BLUE,
    "failure": VERMILION,
    "error": ORANGE,
    "blocked": PURPLE,
    "inconclusive": SKY,
    "missing": GREY,
}

STATE_SIGN: Final[dict[State, str]] = {
    "success": "✓ success",
    "failure": "✗ failure",
    "error": "! error",
    "blocked": "⊘ blocked",
    "inconclusive": "? inconclusive",
    "missing": "… missing",
}
