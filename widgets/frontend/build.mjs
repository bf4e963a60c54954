// Bundles src/widget.ts into the one file that the Python package ships.
// `node build.mjs` writes it; `node build.mjs --check` fails when the shipped file is not what the source gives.
// The banner carries a hash of the sources, so that the Python tests can see a stale bundle without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const target = `${here}../minitape_widgets/static/tapeview.js`;

function sourceHash() {
  const hash = createHash("sha256");
  for (const name of readdirSync(`${here}src`).sort()) {
    hash.update(`${name}\n`);
    hash.update(readFileSync(`${here}src/${name}`, "utf8").replaceAll("\r\n", "\n"));
  }
  return hash.digest("hex").slice(0, 16);
}

const options = { bundle: true, target: "es2022", minify: true, charset: "utf8", legalComments: "none", write: false };

// `import source from "worker:./worker.ts"` gives the bundled text of that module, to start a worker from.
const workers = {
  name: "workers",
  setup(builder) {
    builder.onResolve({ filter: /^worker:/ }, ({ path }) => ({ path: path.slice("worker:./".length), namespace: "worker" }));
    builder.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => {
      const { outputFiles } = await build({ ...options, entryPoints: [`${here}src/${path}`], format: "iife" });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

const hash = sourceHash();
const result = await build({
  ...options,
  entryPoints: [`${here}src/widget.ts`],
  format: "esm",
  plugins: [workers],
  loader: { ".css": "text" },
  banner: { js: `/* minitape TapeView, source ${hash} */` },
});
const text = result.outputFiles[0].text;

if (process.argv.includes("--check")) {
  let shipped = "";
  try {
    shipped = readFileSync(target, "utf8");
  } catch {
    // no bundle yet: falls through to the message below
  }
  if (shipped !== text) {
    console.error("widgets/minitape_widgets/static/tapeview.js is stale: run `npm run build` in widgets/frontend");
    process.exit(1);
  }
  console.log(`bundle is up to date (${hash}, ${text.length} characters)`);
} else {
  writeFileSync(target, text);
  console.log(`wrote ${text.length} characters, source ${hash}`);
}
