"""Programs of several processes: each is observed for itself, says what it has found, and one report is made of it all."""
