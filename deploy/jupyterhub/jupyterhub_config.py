"""JupyterHub for a class on one machine. TEACHERS.md says how to start it; each line here can be changed.

Everybody who has an account on this machine may sign in, with its password. The figures were measured (see
TEACHERS.md).
"""

c = get_config()  # noqa: F821

# Where the hub listens. From other machines it is reached through TLS only: name your certificate here, or put a proxy
# with one in front of it.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# c.JupyterHub.bind_url = "https://0.0.0.0:443"
# c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = "/etc/ssl/certs/class.pem", "/etc/ssl/private/class.key"

c.Authenticator.allow_all = True
c.Authenticator.admin_users = set()  # {"teacher"}: may see who is signed in, and stop servers

# A restart of the hub ends neither the learners' servers nor the proxy to them: learners lose nothing.
c.JupyterHub.cleanup_servers = False
c.JupyterHub.cleanup_proxy = False

# A learner's server copies the lessons that are missing in ~/minitape-lessons. What a learner has is never overwritten.
COPY_AND_START = 'minitape lab --copy-only "$HOME/minitape-lessons"; exec jupyterhub-singleuser "$@"'
c.Spawner.cmd = ["sh", "-c", COPY_AND_START, "jupyterhub-singleuser"]
c.Spawner.default_url = "/lab/tree/minitape-lessons/00-course-map.ipynb"

# A server takes 5 to 6 s of one CPU until it answers. Where a whole class begins at once, the last one waits for the
# CPU of all others: 20 learners on 2 CPUs take 52 to 67 s. The hub's own limits, 60 and 30 s, are too short for that.
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300

# Kernels that are not used end after an hour, and servers without kernels after half an hour more: 230 MB a learner.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_interval=300",
    "--ServerApp.shutdown_no_activity_timeout=1800",
]
# One thread for each learner's arithmetic: more of them only get into each other's way.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
c.Spawner.environment = dict.fromkeys(THREADS, "1")
