"""Actions: the space, and reading and writing them. Text in, `harness.types.Action` out; nothing is executed here.

space       Signature of every action, subsets BROWSERGYM, DYNAWEB, WEBARENA, MINIWOB
build       make_action: check and coerce arguments; what an action points at, answers, ends
browsergym  parse_action, print_action                     click("12")
webarena    parse_webarena_action, print_webarena_action   click [12]
extract     extract_action: the action in a model's reply
describe    describe_action_space: text for prompts
"""

from harness.actions.browsergym import parse_action, print_action
from harness.actions.build import (
    STOP_ACTIONS,
    ErrorKind,
    answer_of,
    bids_of,
    error_kind,
    full_arguments,
    invalid,
    is_infeasible,
    make_action,
    said_of,
)
from harness.actions.describe import describe_action_space
from harness.actions.extract import Syntax, extract_action
from harness.actions.space import ACTION_SPACE, BROWSERGYM, DYNAWEB, MINIWOB, WEBARENA, Parameter, Signature
from harness.actions.webarena import parse_webarena_action, print_webarena_action

__all__ = [
    "ACTION_SPACE",
    "BROWSERGYM",
    "DYNAWEB",
    "MINIWOB",
    "STOP_ACTIONS",
    "WEBARENA",
    "ErrorKind",
    "Parameter",
    "Signature",
    "Syntax",
    "answer_of",
    "bids_of",
    "describe_action_space",
    "error_kind",
    "extract_action",
    "full_arguments",
    "invalid",
    "is_infeasible",
    "make_action",
    "parse_action",
    "parse_webarena_action",
    "print_action",
    "print_webarena_action",
    "said_of",
]
