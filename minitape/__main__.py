"""Run the command with `python -m minitape`, even if the script folder is not on PATH."""

from .cli import main

main(prog_name="minitape")
