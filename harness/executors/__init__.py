"""Where episodes run. local.py: one spawned process per worker, each in a session of its own, on this machine."""
