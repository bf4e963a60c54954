// A few words beside the pointer.
import { h, setText } from "./dom";

export class Tip {
  readonly el = h("div.mt-tip", { "aria-hidden": "true", hidden: true });

  constructor(private home: HTMLElement) {}

  /** Says something where the pointer is; nothing takes it away. */
  say(text: string, event: PointerEvent | null): void {
    this.el.hidden = !text || !event;
    if (!event || !text) return;
    setText(this.el, text);
    const room = this.home.getBoundingClientRect();
    const [x, y] = [event.clientX - room.left, event.clientY - room.top];
    const { offsetWidth: w, offsetHeight: height } = this.el;
    this.el.style.left = `${Math.max(4, Math.min(x + 14, room.width - w - 4))}px`;
    this.el.style.top = `${y + height + 22 > room.height ? Math.max(4, y - height - 12) : y + 16}px`;
  }
}
