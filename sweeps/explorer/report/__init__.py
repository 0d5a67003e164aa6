"""Reports: still pages of one arm, to print and to send."""
