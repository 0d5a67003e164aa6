"""References that `jaxmodal verify` recomputes, and when a number agrees with a printed one."""
