"""The templates. A module is named after its site (or `multi`), alone or with a word: `forum.py`, `forum_moderation.py`; it ends
with `TEMPLATES`. Modules without one hold what others share."""
