"""JupyterHub for a class on one machine. TEACHERS.md says how to start it. You can change each line here.

Anyone who has an account on this machine can sign in with its password. TEACHERS.md says how the figures were measured.
"""

c = get_config()  # noqa: F821

# The address on which the hub listens. Other machines should connect only over TLS: set your certificate here, or put a
# proxy that has one in front of the hub.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# c.JupyterHub.bind_url = "https://0.0.0.0:443"
# c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = "/etc/ssl/certs/class.pem", "/etc/ssl/private/class.key"

c.Authenticator.allow_all = True
c.Authenticator.admin_users = set()  # Such as {"teacher"}. Admins can see who is signed in, and stop servers.

# A restart of the hub stops neither the learners' servers nor the proxy, so learners lose nothing.
c.JupyterHub.cleanup_servers = False
c.JupyterHub.cleanup_proxy = False

# A learner's server copies missing lessons to ~/minitape-lessons. A learner's own files are never overwritten.
COPY_AND_START = 'minitape lab --copy-only "$HOME/minitape-lessons"; exec jupyterhub-singleuser "$@"'
c.Spawner.cmd = ["sh", "-c", COPY_AND_START, "jupyterhub-singleuser"]
c.Spawner.default_url = "/lab/tree/minitape-lessons/00-course-map.ipynb"

# A server needs 5 to 6 s of one CPU before it answers. If a whole class starts at the same time, the last server has to
# wait for all the others: 20 learners on 2 CPUs take 52 to 67 s. The hub's default limits, 60 and 30 s, are too short.
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300

# Unused kernels end after an hour, and servers without kernels half an hour later. This frees 230 MB per learner.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_interval=300",
    "--ServerApp.shutdown_no_activity_timeout=1800",
]
# Each learner's arithmetic uses one thread, because more threads would only get in each other's way.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
c.Spawner.environment = dict.fromkeys(THREADS, "1")
