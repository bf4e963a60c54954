// The script that a page includes: it defines <mini-tape>, <mini-tape-value> and <mini-tape-step>.
import { MiniTape } from "./element";
import { MiniTapeStep, MiniTapeValue } from "./prose";

const ELEMENTS: Record<string, CustomElementConstructor> = {
  "mini-tape": MiniTape,
  "mini-tape-value": MiniTapeValue,
  "mini-tape-step": MiniTapeStep,
};

// A page may include the script twice.
for (const [name, element] of Object.entries(ELEMENTS))
  if (!customElements.get(name)) customElements.define(name, element);
