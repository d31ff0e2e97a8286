"""Convex shapes as kernels see them: one file per shape, and the dispatch.

A shape of row i of `Colliders` has a *kind* and is given in its own axes, from its centre. It is a *core* and
a radius around it: a sphere is a point, a capsule a segment; other shapes are their own core. Files have
parts, functions of the same names and arguments:

| part | what it is | who asks |
|---|---|---|
| `box_around` | the smallest box along the world's axes, about the centre | broad phase |
| `support` | the point of the core farthest along d, with an id of its corner | distance, depth |

A shape needs these two. What else there is to say of it, it brings; what it leaves out says something, too:

| part | what it is | without it |
|---|---|---|
| `core_radius` | the radius around the core | 0 |
| `curvature` | radii of curvature where the support point moves smoothly | the shape has corners only |
| `side_line` | if caps are round, the straight line of the side that faces d | there are no round caps |
| `facing` | the flat face nearest to d, its normal, the cosine of the angle | there are no flat faces |
| `is_over_face` | whether a point lies in the prism over a face | comes with `facing` |
| `set_part` | corners of the face, or of the line, that faces d | the shape touches in one point |
| `on_plane` | contacts with a half-space | those of the part that faces it |
| `on_field` | contacts with terrain | probes of the part that faces it |
| `height_over` | height of a point over the surface, with a normal | peaks of terrain are not felt |

`dispatch` is the only file that knows all shapes: an if-chain over the kind for each part. Pairs that have a
closed form (`taction.geometry.detect` chooses) are in files of their own; no pair needs one.
"""
