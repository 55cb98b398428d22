"""The world model: its data, labels, formats, training and serving."""
