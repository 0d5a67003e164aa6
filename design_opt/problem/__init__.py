"""What is to be optimised: variables, objectives, constraints, postures; read from files."""
