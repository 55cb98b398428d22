"""Injected faults: real processes, a real Chromium, the real command line."""
