"""Motion and force of trees in reduced coordinates: one file per algorithm."""
