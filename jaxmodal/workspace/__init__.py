"""What holds over ranges of parameters: lowest and highest frequencies, and how much of them lies below one."""
