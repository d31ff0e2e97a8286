"""Legged motion as joint paths: gaits by the zero-moment-point method, jumps, and the legs they need."""
