"""Where everything is and how fast it moves: placements, Jacobians, configuration arithmetic."""
