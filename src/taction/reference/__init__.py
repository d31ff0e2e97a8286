"""The papers' own methods, written a second time from what they print, to judge the general code by.

Nothing of the package's kinematics, dynamics, collision, steppers or solvers is used here: agreement between
such a file and a simulation is evidence about both.
"""
