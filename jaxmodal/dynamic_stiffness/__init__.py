"""The physics at one frequency: members, joints, the chain condensed to its base, the fields inside links."""
