"""Settings that were chosen rather than guessed: search spaces, studies, trainings side by side."""
