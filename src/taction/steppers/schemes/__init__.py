"""Time-stepping schemes: one file each, one line each in `taction.steppers.schemes.dispatch`."""
