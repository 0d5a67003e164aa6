"""Dynamics at one frequency: members, joints, condensation of the chain to its base, fields inside links."""
