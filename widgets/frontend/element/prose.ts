// Text that follows a picture, and text that leads it.
import { MiniTape } from "./element";

const NUMBER = /^-?\d[\d.]*(?:e[-+]?\d+)?$/;
const DIGITS = 4;

function findTape(el: HTMLElement): MiniTape | null {
  const root = el.getRootNode() as Document | ShadowRoot;
  const found = root.getElementById?.(el.getAttribute("for") ?? "");
  return found instanceof MiniTape ? found : null;
}

/** <mini-tape-value for="id" of="dy/dx">: a number of a picture. */
export class MiniTapeValue extends HTMLElement {
  static observedAttributes = ["for", "of", "digits"];
  private end: AbortController | null = null;

  connectedCallback(): void {
    this.end = new AbortController();
    const root = this.getRootNode();
    for (const type of ["minitape-change", "minitape-ready"])
      root.addEventListener(type, () => this.update(), this.end);
    this.update();
  }

  disconnectedCallback(): void {
    this.end?.abort();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.update();
  }

  private update(): void {
    const text = findTape(this)?.number(this.getAttribute("of") ?? "") ?? "";
    const digits = Number(this.getAttribute("digits") ?? DIGITS);
    const shown = NUMBER.test(text) ? String(Number(Number(text).toPrecision(digits))) : text;
    if (this.textContent !== shown) this.textContent = shown;
  }
}

/**
 * <mini-tape-step for="id" step="back:2">: a paragraph that leads a picture to a step when it is
 * scrolled to the middle of the window, pointed at, or has the focus.
 */
export class MiniTapeStep extends HTMLElement {
  private observer: IntersectionObserver | null = null;
  private isReady = false;

  connectedCallback(): void {
    if (!this.isReady) {
      this.isReady = true;
      this.tabIndex = 0;
      this.setAttribute("role", "button");
      for (const type of ["pointerenter", "focus", "click"])
        this.addEventListener(type, () => this.lead());
    }
    const middle = { rootMargin: "-49% 0px -49% 0px" };
    this.observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) this.lead();
    }, middle);
    this.observer.observe(this);
  }

  disconnectedCallback(): void {
    this.observer?.disconnect();
  }

  private lead(): void {
    const tape = findTape(this);
    if (!tape) return;
    const root = this.getRootNode() as Document | ShadowRoot;
    const id = CSS.escape(tape.id);
    for (const other of root.querySelectorAll(`mini-tape-step[for="${id}"]`))
      other.toggleAttribute("current", other === this);
    if ((tape.getAttribute("mode") ?? "") !== (this.getAttribute("mode") ?? ""))
      tape.setAttribute("mode", this.getAttribute("mode") ?? "");
    const step = this.getAttribute("step");
    // The reader may have moved the picture, so the attribute alone does not say where it is.
    if (step) {
      tape.setAttribute("step", step);
      tape.goto(step);
    }
  }
}
