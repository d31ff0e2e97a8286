"""Measurements: ours against the peers that are installed, side by side in one run."""
