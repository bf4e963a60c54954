// A page of its own: this front end and one snapshot in a single file
// (minitape_widgets/saved_page.py writes the same).
import type { Snapshot } from "./schema";
import { t } from "./words";

// What a page may load: nothing but what is written in it.
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/** JSON in which nothing can end a script element. */
function inert(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028");
}

/** The HTML text of a page that steps without a kernel. */
export function pageText(snapshot: Snapshot, bundle: string): string {
  return `<!doctype html>
<html lang="${t("en")}">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<title>${t("Tape")}</title>
<style>body { margin: 16px; color-scheme: light dark } @media (prefers-color-scheme: dark) { body { background: #111417 } }</style>
<main id="view" data-fill></main>
<script type="application/json" id="data">${inert(snapshot)}</script>
<script type="text/plain" id="bundle">${inert(bundle)}</script>
<script type="module">
const text = JSON.parse(document.getElementById("bundle").textContent);
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const { mount } = await import(url);
mount(document.getElementById("view"), JSON.parse(document.getElementById("data").textContent), async () => text);
</script>
</html>
`;
}
