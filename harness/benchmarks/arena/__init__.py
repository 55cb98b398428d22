"""The arena: tasks on real applications that run on this machine, scored by WebArena's evaluators and by their databases.

api          what a template's author writes against: read this first
template     Template · expect: what must be true afterwards · hands: how an oracle acts
templates/   one file per site: the source of all tasks
"""
