"""Mode shapes and sensitivities, of one arm and of many."""
