"""A page in which a person looks at a sweep: maps, curves, spectra, the arm; as one file, or served on this machine."""
