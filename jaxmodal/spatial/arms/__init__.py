"""The arm in space: made of parts, of a planar arm or of frames; what of it is implausible."""
