// The playground: an editor, the live picture of the program's tape, and what it prints. Python
// runs in a worker, and starts when one types.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  bracketMatching,
  defaultHighlightStyle,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type * as Picture from "../src/widget";
import type { Snapshot } from "../src/schema";
import { speak, t } from "../src/words";
import type { View } from "../src/view";
import { runInstantly } from "./instant";
import { packed, unpacked } from "./link";
import { markedLine, markLine } from "./marks";
import worker from "worker:./../playground/pyworker.ts";

interface Config {
  pyodide: string;
  files: string[]; // with which Python starts
  lock: string;
  packages: string[];
  bundle: string;
  language: string;
  others: Record<string, string>; // code of another language -> its page
  texts: Record<string, string>;
  picture: Record<string, string>; // the texts of the view
}

interface Example {
  title: string;
  program: string;
  snapshot: Snapshot | null;
}

interface Answer {
  text: string;
  patch: string;
  patch_line: number | null;
}

interface Heard {
  kind: "ready" | "printed" | "failed" | "view" | "why" | "ended" | "broken";
  text?: string;
  knobs?: string;
  content?: unknown;
  answers?: Answer[];
  tape?: boolean;
  data?: Uint8Array;
}

const MOST = 200_000; // characters of output that are shown
const PATIENCE = 4000; // milliseconds in which the files of Python come, also on a slow line
const at = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const config = JSON.parse(at("config").textContent!) as Config;
const examples = JSON.parse(at("examples-data").textContent!) as Example[];
speak({ ...config.picture, ...config.texts });
document.title = `minitape: ${t("a playground for gradients")}`;
at("title").textContent = t("playground");
at("run").textContent = t("Run");
at("stop").textContent = t("Stop");
at("share").textContent = t("Link");
at("examples").ariaLabel = t("Examples");
at("output").ariaLabel = t("Output");
// Light or dark as the system, or as the page around this one says.
const system = matchMedia("(prefers-color-scheme: dark)");
function paint(theme: string): void {
  document.documentElement.dataset.theme = theme;
}
system.onchange = () => paint(system.matches ? "dark" : "light");
paint(system.matches ? "dark" : "light");
addEventListener("message", ({ data, source }: MessageEvent<{ theme?: string }>) => {
  if (source === parent && source !== window && /^(light|dark)$/.test(data?.theme ?? ""))
    paint(data.theme!);
});
if (parent !== window) {
  // the frame is as high as the page: a picture that fills it would grow with it
  at("picture").removeAttribute("data-fill");
  new ResizeObserver(() =>
    parent.postMessage({ tapeview: document.body.offsetHeight }, "*"),
  ).observe(document.body);
}

const text = await (await fetch(config.bundle)).text();
const lib = (await import(
  URL.createObjectURL(new Blob([text], { type: "text/javascript" }))
)) as typeof Picture;

const output = at("output");
const why = at("why");
const state = at("state");
const runButton = at<HTMLButtonElement>("run");
const stopButton = at<HTMLButtonElement>("stop");
let listeners: ((message: unknown, buffers: Uint8Array[]) => void)[] = [];
let takeAway: (() => void) | null = null;
let python_: Worker | null = null;
let running = false;
let loaded = false; // Python has begun
let warned = false;

const editor = new EditorView({
  parent: at("editor"),
  state: EditorState.create({
    doc: "",
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      EditorView.lineWrapping,
      highlightActiveLine(),
      bracketMatching(),
      indentUnit.of("    "),
      python(),
      syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
      keymap.of([
        { key: "Shift-Enter", run: () => (run(), true) },
        ...defaultKeymap,
        ...historyKeymap,
        indentWithTab, // Escape, then Tab, leaves the editor
      ]),
      markedLine,
      EditorView.contentAttributes.of({ "aria-label": t("Program") }),
      EditorView.updateListener.of((change) => {
        if (change.docChanged)
          chooser.value = String(examples.findIndex((one) => one.program === program()));
        if (
          change.docChanged &&
          change.transactions.some((one) => one.isUserEvent("input") || one.isUserEvent("delete"))
        )
          queueMicrotask(follow); // an update must end before the next one begins
      }),
    ],
  }),
});

function program(): string {
  return editor.state.doc.toString();
}

function put(source: string): void {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: source } });
}

const PAUSE = 1200; // milliseconds
let pause: ReturnType<typeof setTimeout> | undefined;
let instant: View | null = null; // the picture that follows what one types

/** Shows the picture of what was typed at once, or says that only Python can run it. */
function follow(): void {
  clearTimeout(pause);
  if (running) return;
  const found = runInstantly(program());
  const isShown = found !== null && "rows" in found;
  at("picture").classList.toggle("stale", !isShown);
  state.textContent = "";
  if (isShown) return showInstantly(found);
  if (found)
    state.textContent = t("Line {0}: {1}. Press Run to see the picture.", found.line, found.reason);
  // Half a word is not known either, so Python begins to load when one pauses.
  pause = setTimeout(() => !python_ && start(), PAUSE);
}

function showInstantly(snapshot: Snapshot): void {
  why.replaceChildren();
  output.textContent = "";
  if (instant?.el.isConnected) {
    const { where, forward } = instant.timeline;
    const back = Math.max(0, where - forward);
    if (instant.store.renew(snapshot)) return;
    const { store, timeline: now } = instant;
    instant.glide([], [], () => {
      store.replace(snapshot);
      instant?.go(back ? Math.min(now.forward + back, now.swept) : now.forward);
    });
  } else instant = mountPicture(snapshot);
}

/** Puts a picture beside the editor, which has the program and marks its line. */
function mountPicture(snapshot: Snapshot): View {
  clearPicture();
  const given = { ...snapshot, texts: config.picture };
  const view = lib.mount(at("picture"), given, async () => text, { moved: markStep });
  view.el.classList.add("mt-no-code");
  view.go(snapshot.sweep ? snapshot.rows.length + 1 : snapshot.rows.length);
  takeAway = () => view.destroy();
  return view;
}

function clearPicture(): void {
  takeAway?.();
  takeAway = null;
  instant = null;
  at("picture").replaceChildren();
  at("picture").classList.remove("stale");
  markLine(editor, null);
}

function markStep(line: number | null): void {
  markLine(editor, line);
}

/** The worker, which is started when it is first needed. */
function start(): Worker {
  if (python_) return python_;
  const made = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })), {
    type: "module",
  });
  const here = (address: string) => new URL(address, location.href).href;
  loaded = warned = false;
  state.textContent = t("Python is loading ...");
  for (const file of config.files) {
    // a file that is missing makes Pyodide wait for ever
    const asked = fetch(file, { method: "HEAD", signal: AbortSignal.timeout(PATIENCE) });
    // what an earlier worker waited for says nothing about this one
    const fail = (error: unknown) => made === python_ && unreachable(error);
    asked.then(({ ok, status }) => ok || fail(`${file}: ${status}`), fail);
  }
  made.onmessage = ({ data }: MessageEvent<Heard>) => hear(data);
  made.onerror = (event) => hear({ kind: "broken", text: event.message });
  made.postMessage({
    kind: "load",
    load: {
      pyodide: here(config.pyodide),
      lock: here(config.lock),
      packages: config.packages,
      language: config.language,
    },
  });
  python_ = made;
  return made;
}

/**
 * Says that Python does not come, and what to do. Where it may only be late, it is waited for; else
 * Run tries again.
 */
function unreachable(error: unknown): void {
  if (loaded) return;
  const { host } = new URL(config.pyodide, location.href);
  if (!warned)
    print(
      `\n${t("Python could not be loaded because {0} does not answer or this network blocks it. Press Run to try again. To create a site that includes Python, use minitape site --lite --offline.", host)}\n(${error})\n`,
    );
  warned = true;
  if (error instanceof DOMException) return; // so far it is late
  python_?.terminate();
  python_ = null;
  state.textContent = "";
  setRunning(false);
}

function run(): void {
  if (running) return;
  output.textContent = "";
  why.replaceChildren();
  const one = start();
  setRunning(true);
  one.postMessage({ kind: "run", program: program() });
}

/** Ends the program, and Python with it: an endless loop hears nothing. */
function stop(): void {
  python_?.terminate();
  python_ = null;
  listeners = [];
  setRunning(false);
  print(`\n(${t("stopped")})\n`);
  start();
}

function setRunning(now: boolean): void {
  running = now;
  runButton.disabled = now;
  stopButton.disabled = !now;
  document.documentElement.dataset.running = String(now);
  if (now && state.textContent === "") state.textContent = t("running ...");
}

function print(more: string): void {
  output.textContent = (output.textContent + more).slice(0, MOST);
  output.scrollTop = output.scrollHeight;
}

function hear(message: Heard): void {
  if (message.kind === "ready") {
    loaded = true;
    state.textContent = running ? t("running ...") : "";
  } else if (message.kind === "broken" && !loaded) unreachable(message.text);
  else if (message.kind === "printed" || message.kind === "failed") print(message.text!);
  else if (message.kind === "why") explain(message.answers!);
  else if (message.kind === "view" && message.knobs !== undefined)
    void show(message.knobs, message.data!);
  else if (message.kind === "view")
    for (const listener of listeners)
      listener(message.content, message.data!.length ? [message.data!] : []);
  else {
    if (message.kind === "broken") print(`\n${message.text}\n`);
    else if (!message.tape)
      print(
        `\n${t("This program has no tape to show. Add one: with tf.GradientTape() as tape: ...")}\n`,
      );
    state.textContent = "";
    setRunning(false);
  }
}

/** The picture of the tape that was recorded, parked at the first backward step. */
async function show(knobs: string, wire: Uint8Array): Promise<void> {
  clearPicture();
  listeners = [];
  const given: Record<string, unknown> = {
    _wire: new DataView(wire.buffer, wire.byteOffset, wire.byteLength),
    _knobs: knobs,
  };
  const model: Picture.Model = {
    get: (name) => given[name],
    on: (_, listener) => listeners.push(listener as never),
    off: () => undefined,
    send: (content) => python_?.postMessage({ kind: "view", content: JSON.stringify(content) }),
  };
  const shared = lib.listen(model);
  await shared.ready;
  const { rows, sweep } = shared.store;
  shared.place = {
    where: sweep ? rows.length + 1 : rows.length,
    following: false,
    selected: -1,
    focused: false,
  };
  takeAway = await lib.show(shared, at("picture"), async () => text, { moved: markStep });
  at("picture").firstElementChild?.classList.add("mt-no-code");
}

function explain(answers: Answer[]): void {
  why.replaceChildren(
    ...answers.map(({ text: said, patch, patch_line: line }) => {
      const part = document.createElement("p");
      part.append(said);
      if (patch && line) {
        const fix = document.createElement("button");
        fix.textContent = t("Fix line {0}", line);
        fix.title = patch;
        fix.onclick = () => apply(line, patch);
        part.append(" ", fix);
      }
      return part;
    }),
  );
}

/** Puts the patch in the place of its line, and runs the program again. */
function apply(number: number, patch: string): void {
  if (number > editor.state.doc.lines) return;
  const line = editor.state.doc.line(number);
  const indent = line.text.match(/^\s*/)![0];
  editor.dispatch({
    changes: { from: line.from, to: line.to, insert: patch.replace(/^/gm, indent) },
  });
  run();
}

function choose(number: number): void {
  const { program: source, snapshot } = examples[number];
  put(source);
  output.textContent = "";
  why.replaceChildren();
  if (snapshot) mountPicture(snapshot);
  else clearPicture();
}

async function share(): Promise<void> {
  history_(`#p=${await packed(program())}`);
  await navigator.clipboard?.writeText(location.href).catch(() => undefined);
  state.textContent = t("This page's address now contains the program.");
}

function history_(fragment: string): void {
  globalThis.history.replaceState(null, "", fragment);
}

/** The program of the link, which nothing runs before Run is pressed; else the first example. */
async function open(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const linked = given.get("p") ? await unpacked(given.get("p")!) : null;
  if (linked === null)
    return choose(
      Math.max(
        0,
        examples.findIndex(({ title }) => title === given.get("example")),
      ),
    );
  put(linked);
  clearPicture();
  state.textContent = t("This program came with a link. Read the program, then press Run.");
}

const chooser = at<HTMLSelectElement>("examples");
// which is in the list while none of the examples is in the editor
const own = new Option(t("your own program"), "-1");
own.hidden = true;
chooser.append(own, ...examples.map(({ title }, number) => new Option(title, String(number))));
for (const [code, page] of Object.entries(config.others)) {
  const link = document.createElement("a");
  link.textContent = new Intl.DisplayNames([code], { type: "language" }).of(code)!;
  link.lang = code;
  link.href = page;
  link.onclick = () => void (link.href = `${page}${location.hash}`); // with the program of the link
  at("languages").append(link);
}
chooser.onchange = () => choose(Number(chooser.value));
runButton.onclick = run;
stopButton.onclick = stop;
at("share").onclick = () => void share();
globalThis.onhashchange = () => void open();
setRunning(false);
await open();
document.documentElement.dataset.shown = String(Math.round(performance.now()));
