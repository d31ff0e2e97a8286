"""Running a model or a world in time, and keeping what happened.

What moves: `world` (robots, objects, ground). Where it is: `state`. How it moves: an `engine`, of smooth
motion (`smooth_engine`) or through contact (`contact_engine`), which sets off on a course; `simulation` is
what a user makes of it, `rollout` many at once.

What is kept: a course gives rows; from them come a `run` and, while it goes on, a file (`recorder`, layout in
`run_file`), which `recorded_run` reads. Both are a `recording`: arrays whose `columns` have names and units.
Beside it: `energy` of states, `contact_summary` of a run's steps, `events`, and runs at other times
(`resample`).
"""
