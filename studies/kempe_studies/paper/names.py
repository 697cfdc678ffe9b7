"""Names of methods in tables and figures."""

METHODS = {
    "cluster": "exact (recursion)",
    "cluster_bodies": "exact, rotors as bodies",
    "approximate": "approximate",
    "approximate_motors": "approximate, given motor coordinates",
    "projection": "projection",
    "lagrange": "Lagrange multipliers",
    "unconstrained": "unconstrained",
    "pinocchio": "Pinocchio, no rotors",
    "pinocchio_exact": "Pinocchio, exact",
}
