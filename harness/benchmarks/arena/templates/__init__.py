"""The templates, one module per site; each ends with `TEMPLATES`."""
