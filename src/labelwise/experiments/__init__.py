"""Many trainings: jobs, what is finished, search, joining, measuring, compacting, cards.

A command of ``cli`` parses and prints; what it does stands here, in the file of the same name.
"""
