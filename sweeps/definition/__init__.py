"""What a sweep is: an arm, axes, outputs; read from files, and compared."""
