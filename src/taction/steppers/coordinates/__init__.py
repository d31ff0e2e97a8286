"""Coordinates of a step: one file each, one line each in `taction.steppers.coordinates.dispatch`."""
