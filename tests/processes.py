"""Programs that tests start."""

import subprocess


def end_processes(*processes: subprocess.Popen[str]) -> None:
    """End processes that a test started, on a busy machine also by force: none outlives it."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
