"""Reports: static pages of one arm, to print and to send."""
