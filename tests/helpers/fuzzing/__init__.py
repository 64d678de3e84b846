"""Fuzzers: odd inputs, damaged files, kills and full disks; `make fuzz` runs them at length."""
