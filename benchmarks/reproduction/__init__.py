"""Tables and motions of papers, recomputed and compared with what is printed."""
