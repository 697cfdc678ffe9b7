"""The results of Chignoli et al. (2023), reproduced: the page that `kempe paper` writes.

The paper: M. Chignoli, N. Adrian, S. Kim, P. M. Wensing, "Recursive Rigid-Body Dynamics Algorithms
for Systems with Kinematic Loops", 2023, section IX.
"""
