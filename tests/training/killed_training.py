"""Run by test_resume.py: trains, and writes a checkpoint after every step."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from training_cases import run

from labelwise.training import loop

torch.set_num_threads(1)
loop.CHECKPOINT_SECONDS = 0.0
run(Path(sys.argv[1]), resume=len(sys.argv) > 2)
