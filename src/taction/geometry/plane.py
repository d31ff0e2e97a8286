"""tmp"""
from taction._core.jit import kernel
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import add_scaled, column_z, dot, load3, load9, sub


@kernel
def sphere_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """tmp"""
    n = column_z(load9(placed, t, PLACED_AXES))
    x = load3(placed, s, PLACED_CENTRE)
    r = colliders.size[s, 0]
    gap = dot(n, sub(x, load3(placed, t, PLACED_CENTRE))) - r
    if gap < margin:
        add_contact(a, b, 0, is_swapped, add_scaled(x, -(r + 0.5 * gap), n), n, gap, contacts_io)
