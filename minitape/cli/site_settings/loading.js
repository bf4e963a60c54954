// A bar at the bottom of JupyterLite, until the first cell can run: what is loading, and how far it is by the time it took here before.
// Where Python does not come, it says so, and what to do.
(() => {
  const KEPT = "minitape-loading";
  const PATIENCE = 4000; // milliseconds in which the files of Python answer, also on a slow line
  const files = {{files}}.map((file) => new URL(file, location.href));
  const [loader] = files;
  const elsewhere = loader.host !== location.host;
  const began = performance.now();
  const usual = Number(localStorage.getItem(KEPT)) || 12000;
  // There is no server here that knows which notebooks are its reader's: what is uploaded may say of itself that it is trusted, and its
  // outputs would run. So nothing is kept with that word.
  const untrusted = (notebook) => {
    for (const cell of Array.isArray(notebook?.cells) ? notebook.cells : []) delete cell?.metadata?.trusted;
    return notebook;
  };
  const decoded = (text) => new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  const encoded = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (value, ...key) {
    const { name, content, format } = value ?? {};
    if (typeof content === "object") untrusted(content);
    else if (typeof content === "string" && /\.ipynb$/i.test(name ?? "")) {
      const coded = format === "base64"; // as it is uploaded
      try {
        const text = JSON.stringify(untrusted(JSON.parse(coded ? decoded(content) : content)));
        value.content = coded ? encoded(text) : text;
      } catch {} // no notebook, which none opens
    }
    return put.call(this, value, ...key);
  };
  const zh = new URLSearchParams(location.search).get("path")?.startsWith("zh/");
  const texts = zh
    ? { page: "正在加载页面 ……", python: "正在加载 Python ……你可以先开始阅读。", small: "在手机上可以阅读；运行和步进请用平板或电脑。",
        failed: elsewhere
          ? `Python 加载不了：${loader.host} 没有回答，或者这里的网络不让访问。这一页可以读，但单元格运行不了。可以请老师用 minitape site --lite --offline 做一份自带 Python 的网站，或者安装 minitape。`
          : "Python 加载不了：这个网站的 pyodide 文件夹没有回答，或者缺文件。这一页可以读，但单元格运行不了。",
        again: "再试一次",
      }
    : {
        page: "The page is loading ...",
        python: "Python is loading ... You can start reading.",
        small: "On a phone, you can read the lessons. To run cells and step through pictures, a tablet or a computer is better.",
        failed: elsewhere
          ? `Python could not be loaded because ${loader.host} does not answer or this network blocks it. You can read, but you cannot run cells. Ask for a site that includes Python (minitape site --lite --offline), or install minitape.`
          : "Python could not be loaded because this site's folder pyodide does not answer or lacks files. You can read, but you cannot run cells.",
        again: "Try again",
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
        if (asked !== undefined && data?.id === asked) data.name === "throw" ? fail(data.value?.value?.message) : (answered = true);
        if (data?.minitape === "failed") fail(data.error);
      });
      this.addEventListener("error", ({ message }) => fail(message));
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
  // Python does not come: for ever, or not yet. A cell that waits for it is no longer shown as one that runs.
  let failed = false;
  const fail = (error) => {
    console.warn("minitape: Python was not loaded.", error);
    if (failed || answered) return;
    failed = true;
    bar.setAttribute("role", "alert");
    bar.style.background = "#8c1d18";
    line.remove();
    const again = document.createElement("button");
    again.textContent = texts.again;
    again.style.cssText = "margin-left:12px;font:inherit";
    again.onclick = () => location.reload();
    words.textContent = texts.failed;
    words.title = String(error ?? "");
    words.after(again);
  };
  for (const file of files) {
    const asked = fetch(file, { method: "HEAD", signal: AbortSignal.timeout(PATIENCE) }); // a file that is missing makes Pyodide wait for ever
    asked.then((answer) => answer.ok || fail(`${file}: ${answer.status}`), fail);
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
    if (failed && !answered) {
      for (const prompt of document.querySelectorAll(".jp-InputPrompt")) if (prompt.textContent === "[*]:") prompt.textContent = "[ ]:";
      return;
    }
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
