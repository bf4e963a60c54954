"""`python -m minitape.cli`: the command, where the script folder is not on PATH."""

from . import main

main(prog_name="minitape")
