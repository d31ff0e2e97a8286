"""Joint coordinates: Featherstone's algorithms, joints never open.

M is that of the kinematic tree, its factor as sparse; there are no rows for joints but those of stops, dry
friction, couplings and loops, which both coordinates have. With momenta carried, C v is a difference of the
links' velocities between the places where the scheme looked (`taction.dynamics.discrete_bias`).

References: [Featherstone2008, Chapter 6].
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.discrete_bias import discrete_bias, remember_velocities
from taction.dynamics.rnea import newton_euler
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_speeds, place_links
from taction.steppers.scene import BIAS, PUSH, ZERO

REDUCED = 0


@kernel
def look(tree, options, q, v, last, ws):
    """Put the links where the scheme looks; with momenta carried, remember their velocities at ``last``."""
    if options.is_momentum:
        place_links(tree, last, ws.links)
        remember_velocities(tree, v, ws.links)
    if options.ahead > 0.0:
        integrate_configuration(tree, q, v, options.ahead * options.h, ws.q)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
    place_links(tree, ws.q, ws.links)


@kernel
def bias(tree, options, v, ws):
    """Row BIAS of ws.dof: forces C v + g of the placed links; their velocities into ws.links."""
    if options.is_momentum:
        discrete_bias(tree, v, options.h, ws.links, ws.dof[BIAS])
    else:
        newton_euler(tree, v, ws.dof[ZERO], ws.links, ws.dof[BIAS])
        link_speeds(tree, v, ws.links)


@kernel
def move(tree, options, has_push, v, ws, q_out):
    """Positions at the end of the step into q_out (nq,), from where the scheme looked."""
    integrate_configuration(tree, ws.q, v, (1.0 - options.ahead) * options.move_h, q_out)
    if has_push:
        integrate_configuration(tree, q_out, ws.dof[PUSH], options.h, q_out)
