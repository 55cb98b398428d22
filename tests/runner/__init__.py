"""The plan, the schedule and the counts of a run, without processes."""
