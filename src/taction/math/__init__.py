"""Vectors, rotations, spatial algebra and small dense factorisations: scalar kernels and their wrappers."""
