// A bar at the bottom of JupyterLite, until the first cell can run: what is loading, and how far it is by the time it took here before.
(() => {
  const KEPT = "minitape-loading";
  const began = performance.now();
  const usual = Number(localStorage.getItem(KEPT)) || 12000;
  const zh = new URLSearchParams(location.search).get("path")?.startsWith("zh/");
  const texts = zh
    ? { page: "正在加载页面 ……", python: "正在加载 Python ……您可以先开始阅读。", small: "在手机上可以阅读；运行和步进请用平板或电脑。" }
    : {
        page: "The page is loading ...",
        python: "Python is loading ... You can begin to read.",
        small: "On a phone you can read here; to run cells and step, a tablet or a computer is kinder.",
      };
  const bar = document.createElement("div");
  bar.id = "minitape-loading";
  bar.setAttribute("role", "status");
  bar.style.cssText =
    "position:fixed;z-index:9999;left:0;right:0;bottom:0;font:14px system-ui,sans-serif;background:#113a5d;color:#fff;padding:6px 12px 8px";
  const words = document.createElement("span");
  const line = document.createElement("div");
  line.style.cssText = "position:absolute;left:0;bottom:0;height:4px;width:0;background:#ffb74d";
  const still = document.createElement("style"); // the page's own animations take a processor that Python needs
  still.textContent = "#jupyterlite-loading-indicator *, #jupyterlab-splash * { animation: none !important }";
  bar.append(words, line, still);
  const small = Math.min(screen.width, screen.height) < 500;
  // The kernel answers "idle" before its Python is there. What JupyterLite's page waits for is its worker's answer to "initialize".
  let asked;
  let answered = false;
  let early;
  let taken = false;
  window.Worker = class extends window.Worker {
    constructor(...options) {
      if (String(options[0]).includes("comlink.worker") && !taken) {
        taken = true;
        if (early) return early;
      }
      super(...options);
      this.addEventListener("message", ({ data }) => {
        if (asked !== undefined && data?.id === asked) answered = true;
      });
    }
    postMessage(message, ...rest) {
      if (message?.path?.[0] === "initialize") asked = message.id;
      super.postMessage(message, ...rest);
    }
  };
  // The first kernel starts before JupyterLab's page asks for it, as soon as the service worker, which gives it the notebooks' files, is there.
  const startEarly = () => {
    if (!taken) early ??= new Worker("../pyodide/kernel_python.js", { type: "module" });
  };
  const services = crossOriginIsolated ? undefined : navigator.serviceWorker;
  if (services?.controller) startEarly();
  else if (services) {
    services.addEventListener("controllerchange", startEarly, { once: true });
    services.register("../service-worker.js?enableCache=false").catch(console.warn); // as JupyterLite's page does later
  }
  const keep = () => {
    const keeper = new Worker("../pyodide/kernel_python.js?keep", { type: "module" });
    keeper.onmessage = () => {
      keeper.terminate();
      document.documentElement.dataset.minitapeKept = "";
    };
  };
  const look = () => {
    if (!bar.isConnected && document.body) document.body.append(bar);
    const spent = performance.now() - began;
    words.textContent = (document.querySelector(".jp-Cell") ? texts.python : texts.page) + (small ? ` ${texts.small}` : "");
    line.style.width = `${Math.round(100 * (1 - Math.exp((-2 * spent) / usual)))}%`;
    if (!answered) return;
    clearInterval(timer);
    localStorage.setItem(KEPT, String(Math.round(spent)));
    document.documentElement.dataset.minitapeReady = String(Math.round(spent));
    if (!small) {
      setTimeout(keep, 5000);
      return bar.remove();
    }
    words.textContent = texts.small;
    bar.onclick = () => bar.remove();
  };
  const timer = setInterval(look, 100);
})();
