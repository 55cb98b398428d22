"""The invented contents of the sites, as plain data: the truth that tasks and checks are computed from."""
