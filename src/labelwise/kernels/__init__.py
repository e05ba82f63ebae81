"""The hot loops, and the plain references that faster ones are tested against."""
