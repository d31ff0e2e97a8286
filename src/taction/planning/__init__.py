"""Predictive control through contact: linearised systems, programs with complementarity, methods, loops."""
