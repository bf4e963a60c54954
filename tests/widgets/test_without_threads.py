"""Live views where no thread can start, as in a browser's Python: who brings news sends it. In a process of its own,
since a lock that is held for ever would end no test.
"""

import subprocess
import sys

PROGRAM = """
import threading

def start(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = start
import minitape as tf
from minitape_widgets import TapeView, live_updates as live, wire_format as wire

sent = []

class Seen(TapeView):
    def send(self, content, buffers=None):
        sent.append((content, buffers))

live.ROWS_AFTERWARDS = 60  # so that one look does not find all
x = tf.Variable(1.0, name="x")
tape = tf.GradientTape(persistent=True)
view = Seen(tape)
with tape:
    y = x
    for _ in range(200):
        y = y * 1.01
rows = sum(len(wire.decode_snapshot(buffers[0])["rows"]) for _, buffers in sent if buffers)
assert rows == len(view._rows) > 200, rows
sent.clear()
tape.gradient(y, x)
steps = [wire.decode_snapshot(buffers[0])["sweep"] for content, buffers in sent if content["kind"] == "rows"]
assert steps and steps[-1] and len(steps[-1]["steps"]) == 200, steps
print("all sent")
"""


def test_a_view_gets_its_rows_and_its_sweep_without_a_thread():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600)
    assert done.stdout == "all sent\n", done.stderr
