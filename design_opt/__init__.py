"""Design optimisation of arms, kept apart from the physics of `jaxmodal`.

The package is reserved: it holds no public name in this release.
"""
