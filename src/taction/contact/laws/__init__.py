"""Laws of contact: how impulses and velocities of one block of three rows belong together. One file each.

A law is a convex set C of admissible impulses with −γ ∈ N_C(Λ), equivalently Λ = P_C(Λ − ργ) for any ρ >
0, and a velocity γ made from u. A block has an integer *kind*, the number of its law, and six numbers,
those of its set.

| file | kind | set | γ | six numbers |
|---|---|---|---|---|
| `box` | `BOX` | three intervals | u | lo, hi of each row |
| `coulomb` | `EXACT` | friction cone | u + σ(−u_T) e_N | μ₊, μ₋, μ₂, –, –, – |
| `relaxed` | `CONVEX` | friction cone | u | μ₊, μ₋, μ₂, –, –, – |
| `adhesion` | `ADHESIVE` | friction cone, moved against the normal | of either | μ₊, μ₋, μ₂, a, kind, – |
| `returned` | `RETURNED` | the same, cut off where it would pull | of either | μ₊, μ₋, μ₂, a, kind, – |

Every file has the same parts, functions of the same names and arguments:

| part | what it is | who asks |
|---|---|---|
| `nearest` | P_C(x) | natural map, ADMM, projected gradients |
| `in_turn` | normal part first, then the tangential one on the section that belongs to it | prox methods |
| `shift` | what is added to u_N to make γ | natural map, ADMM |
| `apex` | how far the set is moved against the normal | methods with equations of their own |
| `origin` | the kind of the law with its set not moved | the same |
| `solve_alone` | the impulses of one block, all others held | Gauss–Seidel |
| `weights` | shares of the proximal weight of the rows | Newton's method |
| `equations` | F(Λ, u) that vanishes where the law holds, and its derivatives | Newton's method |
| `rescale` | units in which the block is well scaled, and the set in these | all that scale |
| `judged` | how wrong impulses and velocities are, from the definition of the law | the judge of a step |

`judged` uses `taction.contact.cone_distance` and none of the other parts: who judges does not compute.

`dispatch` is the only file that knows all laws: an if-chain over the kind for each part, because
functions cannot be handed to kernels without losing the disk cache. Solvers, assembly and judge ask
`dispatch`.
"""
