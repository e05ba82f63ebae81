"""Trained models for programs without labelwise and PyTorch."""
