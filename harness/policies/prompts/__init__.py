"""System prompts, as text files. `{actions}` stands for the description of the allowed actions."""
