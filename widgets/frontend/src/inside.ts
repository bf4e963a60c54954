// The rows inside of a call of a function: a view of their own in the place of the one that they
// were called in.
import { button, focusQuietly, h } from "./dom";
import type { Inside } from "./schema";
import { Store } from "./store";
import type { ViewOptions } from "./options";
import { count, title } from "./value";
import { View } from "./view";
import { t } from "./words";

/** Shows the inside of the call at a row of `outer`; Escape, or the button, leads back. */
export async function openInside(outer: View, row: number, options: ViewOptions): Promise<void> {
  const found = await insideOf(outer.store, row, options);
  if (outer.inner) return;
  if (!found)
    return void outer.say(
      t(
        "You can't look inside this call. Either no kernel is running, the values that the call read have changed since, or no tape recorded the call.",
      ),
    );
  const store = new Store();
  // the sweep through it is that of the last gradient
  store.take(outer.store.chosen < 0 ? found.snapshot : { ...found.snapshot, sweep: null });
  const out = (): void => {
    outer.inner?.destroy();
    outer.inner?.el.remove();
    outer.inner = null;
    outer.el.classList.remove("mt-entered");
    focusQuietly(outer.el);
  };
  const inner = (outer.inner = new View(store, { bundle: options.bundle, out }, outer.parts));
  inner.el.prepend(crumb(outer, row, found, out));
  inner.theme(outer.el.classList.contains("mt-dark"));
  outer.el.classList.add("mt-entered");
  outer.el.append(inner.el);
  focusQuietly(inner.el);
}

/** What a store knows, or the kernel. */
async function insideOf(store: Store, row: number, options: ViewOptions): Promise<Inside | null> {
  const first = store.rows[row].call; // the first of the call's outputs
  const known = store.insides.get(first) ?? (await options.inside?.(first)) ?? null;
  if (known) store.insides.set(first, known);
  return known;
}

function crumb(outer: View, row: number, found: Inside, out: () => void): HTMLElement {
  const call = outer.store.rows[row];
  const cut =
    (found.snapshot.total ?? 0) > found.snapshot.rows.length
      ? t(", the first {0} rows", count(found.snapshot.rows.length))
      : "";
  const back = button("", "Back to the tape (Esc)", out, t("← back"));
  return h(
    "div.mt-crumb",
    { role: "status" },
    back,
    h(
      "span",
      {},
      t("inside "),
      h("b", {}, title(call)),
      t(
        ", called at row {0}{1}{2}: the operations in this call, with their values",
        found.row,
        call.line ? t(", line {0}", call.line) : "",
        cut,
      ),
    ),
  );
}
