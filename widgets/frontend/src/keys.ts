// The keyboard: which keys are for the view, which for the part of it that has the focus, and which
// for JupyterLab.
import { focusBeside, focusQuietly, on } from "./dom";

// in a part of the view that is longer than its room
const SCROLLING = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp"]);
const SUPPRESS = "data-lm-suppress-shortcuts"; // asks JupyterLab to leave the keys to the view

export class Keys {
  private focused: HTMLElement | null = null; // the part of the view that has the focus

  /** `actions` by `KeyboardEvent.key`; `left` is called where Escape leaves a field to write in. */
  constructor(
    private el: HTMLElement,
    private actions: Record<string, () => void>,
    private left: (field: HTMLElement) => void,
  ) {
    el.setAttribute(SUPPRESS, "true");
    on(el, "keydown", (event) => this.key(event));
    on(el, "focusin", (event) => {
      this.focused = event.target as HTMLElement;
      window.addEventListener("keydown", this.shortcuts, true);
    });
    on(el, "focusout", () => {
      this.stop();
      // A part that is taken out of the page loses the focus before or after this event.
      queueMicrotask(() => {
        if (!this.keepFocus() && !el.contains(focusBeside(el))) this.focused = null;
      });
    });
  }

  /**
   * Gives the view the focus of a part that is hidden or gone, since the page would get it and no
   * key would reach the view; returns whether it did.
   */
  keepFocus(): boolean {
    const { el, focused } = this;
    if (!focused || focused === el || (el.contains(focused) && focused.checkVisibility()))
      return false;
    const holder = focusBeside(el);
    // The reader may have gone to another part of the page.
    if (holder && holder !== document.body && holder !== focused) return false;
    focusQuietly(el);
    return true;
  }

  stop(): void {
    window.removeEventListener("keydown", this.shortcuts, true);
  }

  /** Before JupyterLab sees a key: the view's keys are not for it, but saving is. */
  private shortcuts = (event: KeyboardEvent): void => {
    const saves = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    if (saves) this.el.removeAttribute(SUPPRESS);
    else this.el.setAttribute(SUPPRESS, "true");
  };

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === "Escape") {
        this.left(target);
        this.el.focus();
      }
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      SCROLLING.has(event.key) &&
      target !== this.el &&
      target.tabIndex === 0 &&
      target.scrollHeight > target.clientHeight
    )
      return event.stopPropagation();
    if (target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter"))
      return event.stopPropagation();
    const action =
      (event.shiftKey && this.actions[`Shift+${event.key}`]) || this.actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}
