"""What it bears: changed inputs, faults at random moments, and more requests than it can answer.

Campaigns are no benchmarks: they look for what goes wrong, for hours where they are asked to. Each
is a module that runs by itself (``make fuzz``, ``make chaos``, ``make overload``), and writes what
it found beside the results of the benchmarks.
"""
