"""Clean up processes that tests start."""

import subprocess


def end_processes(*processes: subprocess.Popen[str]) -> None:
    """Terminate the processes that a test started, by force after a minute, so that none outlives the test.

    Args:
        processes: The processes.
    """
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
