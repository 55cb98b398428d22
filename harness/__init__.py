"""dynaweb-harness: one loop for simulated and real success of web agents. See docs/architecture.md."""

__version__ = "0.1.0"
