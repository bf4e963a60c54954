"""`python -m minitape`: the command, where the script folder is not on PATH."""

from .cli import main

main(prog_name="minitape")
