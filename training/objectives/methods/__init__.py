"""One file per method: a preset of the axes, with the paper's equation and what the paper leaves open."""
