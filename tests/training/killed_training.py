"""Run by test_resume.py: trains, and writes a checkpoint after every step.

It rests after each, so that whoever is to kill it is in time on a busy machine too.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from training_cases import run

from labelwise.training import loop

torch.set_num_threads(1)
loop.CHECKPOINT_SECONDS = 0.0
write = loop._Training._write_checkpoint


def write_and_rest(self: loop._Training) -> None:
    write(self)
    time.sleep(0.05)


loop._Training._write_checkpoint = write_and_rest
run(Path(sys.argv[1]), resume=len(sys.argv) > 2)
