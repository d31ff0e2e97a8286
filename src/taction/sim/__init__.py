"""Running a model in time and recording what happened."""
