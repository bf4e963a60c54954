// Bundles src/widget.ts into the one file that the Python package ships, element/index.ts into the
// script for any web page, film/index.ts into the script of a film's page, map/index.ts into that
// of a model's map, playground/main.ts into the script of the playground's page, and
// lab/extension.ts into an extension of JupyterLab. `node build.mjs` writes them; `node build.mjs
// --check` fails when the shipped files are not what the sources give. The banner, and the name of
// the extension's file, carry a hash of the sources, so that the Python tests can see a stale
// bundle without Node, and browsers a new file.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { minify } from "terser";

const here = fileURLToPath(new URL(".", import.meta.url));
const view = `${here}../minitape_widgets/static/tapeview.js`;
const element = `${here}../minitape_widgets/static/minitape.js`;
const film = `${here}../minitape_widgets/static/film.js`;
const map = `${here}../minitape_widgets/static/map.js`;
const extension = `${here}../../minitape/cli/jupyterlab_extensions/minitape-kernel`;

function sourceHash(...folders) {
  const hash = createHash("sha256");
  for (const folder of folders) {
    for (const name of readdirSync(`${here}${folder}`).sort()) {
      hash.update(`${name}\n`);
      hash.update(readFileSync(`${here}${folder}/${name}`, "utf8").replaceAll("\r\n", "\n"));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

const shortNames = {
  ...{ timeline: "tl", nodeOf: "nf", spanFrom: "sf", camera: "cm", writeByte: "wb" },
  ...{ parseOperand: "po", actions: "ac", fitting: "ft", scroller: "sr", readFirst: "rf" },
  ...{
    unfinished: "uf",
    canContinue: "kn",
    schedule: "sd",
    store: "st",
    turned: "tu",
    reveal: "rv",
    graph: "gr",
  },
  ...{ updating: "ug", marks: "mk", around: "ar", storey: "sy", chosen: "cn", waiting: "wg" },
  ...{ shapeOf: "so", folding: "fg", skeleton: "sk", drawState: "ds", playButton: "pb" },
  ...{ isPresented: "ip", consumers: "cs", toggled: "tg", drawn: "dn", reach: "rc", column: "cl" },
  ...{ sequence: "sq", hover: "hv", pathEdges: "pe", presented: "pr", factors: "fc" },
  ...{ stepping: "sp", touched: "th", failUnexpected: "fu", foldSelect: "fs", arrivals: "av" },
  ...{ takeRoom: "tr", byColumn: "bc", forward: "fw", backward: "bw" },
  ...{ starts: "sa", modes: "mo", pending: "pn", section: "se", paint: "pa", timer: "ti" },
  ...{ moves: "mv", planner: "pl", tokens: "tk", frames: "fr", isLineStart: "il" },
  ...{ parseBinary: "ps", parseIndexPart: "pi", forget: "fo", wanted: "wa", asked: "ak" },
  ...{ slider: "sl", painter: "pt", stopListening: "si", layOut: "la", patterns: "pc" },
  ...{ pitch: "ph", depth: "de", indexed: "ie", parseUnary: "pu", saysChosen: "ss" },
  ...{ parseBoolean: "pd", answered: "an", observer: "ob", recast: "re", listeners: "li" },
  ...{ backTo: "ba", anchor: "ah", isLineEnd: "ii", reruns: "rr", swept: "sw" },
  ...{ updateEdges: "ud", stopPlacing: "sc", nextProduct: "ne", opening: "op", wrapped: "wr" },
  ...{ stepbar: "sb", playing: "pg", readLast: "ra", ports: "pf", edgeAt: "ed", mapped: "ma" },
  ...{ setGraph: "sg", mover: "me", leftScreen: "le", backwardLines: "bk", forwardLines: "fa" },
  ...{ parseBrackets: "pk", parseOnly: "pj", parseArguments: "pm", writeTurn: "wi" },
  ...{ shortcuts: "sh", keepFocus: "ke", parsePostfix: "pp", stepOf: "sj", stepOn: "sn" },
  ...{ covered: "co", resized: "rs", growth: "gw", moveTo: "mt", refresh: "rh", inspector: "ic" },
  ...{ draw: "dr", edge: "eg", profile: "pq", leave: "lv", moved: "mq" },
  ...{ isWhole: "iw", seenWhole: "vs", inLines: "ia", overview: "ov", wrapAnew: "wp" },
  ...{ buildModes: "bi", buildPane: "bp", takeSteps: "tj", sharePage: "ks", revealBox: "rg" },
  ...{ openAtEnd: "oa", glideFrom: "ga", stepLines: "za", sweepNote: "zb", placeRows: "pw" },
  ...{
    isPredicted: "ir",
    settled: "sz",
    flatten: "fz",
    valuesAt: "va",
    updateLines: "uz",
    toggleAt: "tz",
  },
  ...{
    tangentLine: "tx",
    rowLinks: "rw",
    patience: "pz",
    hideCovered: "hc",
    goToProduct: "gc",
    chosenLines: "cz",
  },
  ...{
    groupLines: "gz",
    unanswered: "uw",
    showSource: "su",
    listPlaces: "lp",
    stopAt: "sv",
    isByKey: "iy",
  },
};

const options = {
  bundle: true,
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  // what the view reads most often has shorter names, the same in all bundles
  ...renaming(shortNames),
  write: false,
};

function renaming(names) {
  // Python writes these fields by their whole names.
  const fields = readFileSync(`${here}src/snapshot.ts`, "utf8").matchAll(/^ {2}(\w+)\??:/gm);
  const field = [...fields].find(([, name]) => name in names);
  if (field) throw new Error(`Snapshots have a field ${field[1]}, whose name can't be shortened.`);
  const short = Object.values(names);
  if (new Set(short).size < short.length) throw new Error("Two properties have one short name.");
  return { mangleProps: new RegExp(`^(${Object.keys(names).join("|")})$`), mangleCache: names };
}

// Editors and films have properties of these names that are not the view's. The playground reads
// none of them from a view.
const viewNames = renaming({
  ...shortNames,
  ...{ unfolded: "ka", tokenize: "kb", sentFrom: "kc", sentBack: "kf" },
  ...{ focusView: "kg", differsAt: "kh", isSloping: "ki" },
  ...{ scene: "nz", nodes: "ns", group: "gp" },
  ...{ current: "ja", writeBytesView: "jb", bytesView: "jc", writeFrame: "jd", writeBytes: "jf" },
  ...{ trail: "jg", restage: "jh", grab: "ji", parseNot: "jj", needName: "jk" },
  ...{ findOpening: "jl", whatIf: "jm", planOf: "jn", parsePower: "jo", parseIndex: "jp" },
  ...{ openInside: "jq", isRecorded: "jr", endSection: "jt", dropOthers: "ju", sayAnew: "jv" },
  ...{ moveCut: "jw", onPaper: "jx", turnOff: "jy", parseText: "jz", parseAtom: "qa" },
  ...{ client: "qd", toolbar: "qe", cards: "qf", drawing: "qg", updates: "qh", recording: "qi" },
  ...{ places: "qj", history: "ql", home: "qp", scopes: "qr", following: "qs" },
  ...{ pane: "qt", items: "qu", layout: "qv", beginnings: "qw" },
  ...{ skipBlank: "qb", watchSize: "qc", scale: "qm", position: "qn" },
  ...{ bend: "qo", addends: "qk", legible: "qq", corners: "xa", peek: "xb" },
  ...{ measure: "xc", goBack: "xd", settle: "qx", passing: "qy", strip: "qz" },
  ...{ stage: "xe", focused: "xf", isMoved: "xg", revealed: "xh", numberOf: "xi", goal: "xj" },
  ...{ loops: "xk", parent: "xl", columns: "xo" },
  ...{ plain: "xr", layers: "xs", lines: "xt" },
  ...{ beforeTurn: "ya", isOpening: "yb", choosePlace: "yc", belowOthers: "yd", inTime: "ye" },
  ...{ loopsOf: "yf", isApart: "yg", writeCode: "yh", showEnds: "yi", runSweep: "yj" },
  ...{ makePlan: "yk", isInside: "yl", hasBegun: "ym", goRow: "yn", findStep: "yo" },
  ...{ exportAs: "yp", edgeLine: "yq", addToken: "yr", scopeOf: "ys", runStep: "yt" },
  ...{ imagine: "yu", addSeen: "yv", blamed: "yw" },
  ...{ stood: "zg", shoot: "zh", plans: "zi", guess: "zj", toTurn: "zk", refuse: "zl" },
  ...{ nudges: "zm", invite: "zn", refit: "zo", isFar: "zp", badIn: "zq" },
  ...{ near: "zr", seen: "zs", tops: "zt", twin: "zu", told: "zv", captions: "zw" },
  ...{ tell: "xm", busy: "xn", enter: "xq", sloping: "vk", gliding: "zx", jump: "zy" },
  ...{ world: "zz", fitted: "vm", beyond: "vb", turnText: "vc", lane: "vd", filling: "ve" },
  ...{ isLast: "vf", drawState: "vg", isCut: "vh", scalebar: "vi", returned: "vj" },
  ...{ nameOf: "vn", bare: "vo", transparentIndex: "vp", transparent: "vr", palette: "vt" },
});

// Functions of the language that are called so often that short names save three kilobytes. No
// minifier may give them one by itself, because a page could replace them.
const builtins = {
  define: {
    "Math.abs": "mathAbs",
    "Math.ceil": "mathCeil",
    "Math.floor": "mathFloor",
    "Math.max": "mathMax",
    "Math.min": "mathMin",
    "Math.round": "mathRound",
    "Number.isFinite": "isFiniteNumber",
    "Number.isNaN": "isNotANumber",
    "Array.isArray": "isAnArray",
  },
  inject: [`${here}builtins.mjs`],
};

// `import source from "worker:./worker.ts"` gives the bundled text of that module, to start a
// worker from.
const workers = {
  name: "workers",
  setup(builder) {
    builder.onResolve({ filter: /^worker:/ }, ({ path }) => ({
      path: path.slice("worker:./".length),
      namespace: "worker",
    }));
    builder.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => {
      const { outputFiles } = await build({
        ...options,
        entryPoints: [`${here}src/${path}`],
        format: "iife",
      });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

// Colours and fonts that only style sheets read have a letter there; scripts ask for the others.
const colours = {
  ...{ accent: "a", dim: "d", faint: "p", muted: "m" },
  ...{ raised: "w", rule: "r", sans: "s", text: "t" },
};

// Style sheets are bundled as text, without what only their readers need.
const styles = {
  name: "styles",
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        loader: "css",
        minify: true,
        target: "es2022",
      });
      // a space behind the name of a variable says nothing
      const text = code
        .replaceAll(/(--[\w-]+): /g, "$1:")
        .replaceAll(/--mt-(\w+)(?![\w-])/g, (name, of) =>
          colours[of] ? `--${colours[of]}` : name,
        );
      return { contents: text, loader: "text" };
    });
  },
};

// A view recomputes values by the formulas of the table of operations; a snapshot brings the labels
// and texts of its rows, so that only the element, which records programs, needs those.
const formulas = {
  name: "formulas",
  setup(builder) {
    builder.onLoad({ filter: /table\.json$/ }, ({ path }) => {
      const table = Object.entries(JSON.parse(readFileSync(path, "utf8")));
      const formulas = Object.fromEntries(table.map(([name, { formula }]) => [name, formula]));
      const text = `Object.entries(${JSON.stringify(formulas)}).map(([name, formula]) => [name, { formula }])`;
      return { contents: `export default Object.fromEntries(${text})`, loader: "js" };
    });
  },
};

async function bundled(more) {
  return (await build({ ...options, ...more })).outputFiles[0].text;
}

/** A bundle that travels with each kernel or page: Terser shortens what esbuild leaves longer. */
async function packed({ banner, ...more }) {
  const { code } = await minify(await bundled({ ...more, ...builtins }), {
    module: more.format === "esm",
    ecma: 2022,
    // Only classes are called with `new`, and functions that stand side by side need fewer words.
    compress: { passes: 3, unsafe_arrows: true, hoist_funs: true },
    mangle: true,
    toplevel: true,
    format: { comments: false },
  });
  return `${banner.js}\n${code}\n`;
}

/** What JupyterLab reads of an extension: its name, and the file to load. */
function packageOf(file) {
  const { version, license } = JSON.parse(readFileSync(`${here}package.json`, "utf8"));
  const description =
    "Notebooks of minitape start one kernel, and show widgets also when it comes late.";
  const jupyterlab = {
    extension: true,
    _build: { load: `static/${file}`, extension: "./extension" },
  };
  return `${JSON.stringify({ name: "minitape-kernel", version, description, license, jupyterlab }, null, 2)}\n`;
}

const remote = `remoteEntry.${sourceHash("lab")}.js`;
const gifLicence = readFileSync(`${here}node_modules/gifenc/LICENSE.md`, "utf8");
const editorLicence = readFileSync(`${here}node_modules/@codemirror/state/LICENSE`, "utf8");
const page = `${here}../../minitape/cli/playground_page/playground.js`;
const shipped = {
  [page]: await bundled({
    entryPoints: [`${here}playground/main.ts`],
    format: "esm",
    plugins: [workers],
    banner: {
      js: `/* minitape playground, source ${sourceHash("evaluator", "playground")} */\n/* With CodeMirror and Lezer:\n${editorLicence}*/`,
    },
  }),
  [view]: await packed({
    entryPoints: [`${here}src/widget.ts`],
    ...viewNames,
    format: "esm",
    plugins: [styles, formulas],
    banner: {
      js: `/* minitape TapeView, source ${sourceHash("evaluator", "src")} */\n/* With gifenc:\n${gifLicence}*/`,
    },
  }),
  [element]: await packed({
    entryPoints: [`${here}element/index.ts`],
    ...viewNames,
    format: "iife",
    plugins: [styles],
    banner: {
      js: `/* minitape element, source ${sourceHash("element", "evaluator", "src")} */\n/* With gifenc:\n${gifLicence}*/`,
    },
  }),
  [film]: await bundled({
    entryPoints: [`${here}film/index.ts`],
    format: "esm",
    plugins: [styles, formulas],
    banner: {
      js: `/* minitape film, source ${sourceHash("evaluator", "film", "src")} */\n/* With gifenc:\n${gifLicence}*/\n/* With mediabunny, under the Mozilla Public License 2.0; its source: https://github.com/Vanilagy/mediabunny */`,
    },
  }),
  [map]: await bundled({
    entryPoints: [`${here}map/index.ts`],
    format: "esm",
    plugins: [styles],
    banner: { js: `/* minitape map of a model, source ${sourceHash("map", "src")} */` },
  }),
  [`${extension}/package.json`]: packageOf(remote),
  [`${extension}/static/${remote}`]: await bundled({
    entryPoints: [`${here}lab/extension.ts`],
    format: "iife",
  }),
};

function isThere(path, text) {
  try {
    return readFileSync(path, "utf8") === text;
  } catch {
    return false; // no bundle yet
  }
}

if (process.argv.includes("--check")) {
  const stale = Object.keys(shipped).filter((path) => !isThere(path, shipped[path]));
  if (stale.length) {
    console.error(`stale: ${stale.join(", ")}; run \`npm run build\` in widgets/frontend`);
    process.exit(1);
  }
  console.log("the bundles are up to date");
} else {
  // the file of an older source has another name
  rmSync(`${extension}/static`, { recursive: true, force: true });
  for (const [path, text] of Object.entries(shipped)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path.slice(here.length)}: ${text.length} characters`);
  }
}
