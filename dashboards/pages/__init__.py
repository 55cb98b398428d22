"""One module per page, each with `draw(context)`. They lay things out; what they show was computed in `results` or `audits`."""
