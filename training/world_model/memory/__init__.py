"""Pages met before, to be opened again by name instead of being written out.

addresses   shelf, route, pattern: what identifies a page and its kind across copies of a site
links       Link: what an action on an element led to
pages       PageMemory: add, lookup; built from the train split, bounded, saved beside a checkpoint
"""

from training.world_model.memory.links import Link
from training.world_model.memory.pages import Found, HitKind, PageMemory, RememberedPage

__all__ = ["Found", "HitKind", "Link", "PageMemory", "RememberedPage"]
