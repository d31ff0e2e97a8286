"""Shapes in the world: which pairs may touch, where they touch, and how far apart they are."""
