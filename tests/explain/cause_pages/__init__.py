"""The programs on the pages about causes, and what minitape prints about them."""
