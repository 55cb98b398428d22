"""The rollout loop, with scripted policies and worlds."""
