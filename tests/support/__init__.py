"""Local servers and helpers shared by tests."""
