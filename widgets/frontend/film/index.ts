// The page of a film: it plays, can be wound to any time, and is saved as a video, a GIF or frames.
import { addStyle, isDark } from "../src/attach";
import { button, h, icon, on } from "../src/dom";
import type { Snapshot } from "../src/schema";
import theme from "../src/theme.css";
import { speak, t } from "../src/words";
import { Director, type Size } from "./director";
import css from "./film.css";
import { listPictures, recordGif, recordVideo } from "./recorder";
import type { Shot } from "./storyboard";

export interface FilmData extends Size {
  snapshot: Snapshot;
  shots: Shot[];
  /** frames a second of a video */
  rate: number;
  /** light or dark; the page's colours where it is not said */
  dark?: boolean;
  texts?: Record<string, string>;
}

/** A film in a page; other programs call its methods. */
export class Film {
  readonly el: HTMLElement;
  /** why a shot cannot be shown; "" where all can be */
  readonly fault: string;
  private director: Director;
  private bar: HTMLInputElement;
  private time = 0;
  private frame = 0;
  private play: HTMLButtonElement;
  private note = h("span", { role: "status" });

  constructor(private data: FilmData) {
    const home = h("div.mt-view.mt-filmed", {});
    home.classList.toggle("mt-dark", data.dark ?? isDark());
    document.body.append(home); // styles and widths of texts are known in the page only
    this.director = new Director(home, data.snapshot, data.shots, data);
    this.bar = h("input", {
      type: "range",
      min: 0,
      max: this.director.duration,
      step: "any",
      value: 0,
      "aria-label": "time",
    });
    on(this.bar, "input", () => (this.stop(), this.go(Number(this.bar.value))));
    this.play = button("play", t("play"), () => this.toggle());
    const save = (kind: "webm" | "mp4" | "gif"): HTMLButtonElement =>
      button("", t("save as {0}", kind), () => void this.download(kind), kind);
    const kinds = (["webm", "mp4", "gif"] as const).map(save);
    home.append(h("div.mt-film-bar", {}, this.play, this.bar, ...kinds, this.note));
    this.el = home;
    this.fault = this.director.findFault();
    this.note.textContent = this.fault;
    // until it plays, the page shows how it ends: at its begin nothing has a number
    this.go(this.duration);
  }

  get duration(): number {
    return this.director.duration;
  }

  /** Shows the film as it is after so many seconds. */
  go(time: number): void {
    this.time = Math.max(0, Math.min(this.duration, time));
    this.director.draw(this.time);
    this.bar.value = String(this.time);
  }

  toggle(): void {
    if (this.frame) return this.stop();
    const begin = performance.now() - (this.time < this.duration ? this.time : 0) * 1000;
    const tick = (now: number): void => {
      this.go((now - begin) / 1000);
      if (this.time < this.duration) this.frame = requestAnimationFrame(tick);
      else this.stop();
    };
    this.frame = requestAnimationFrame(tick);
    this.paintButton();
  }

  private stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.paintButton();
  }

  /** The button says what it does now. */
  private paintButton(): void {
    const wanted = this.frame ? "pause" : "play";
    this.play.replaceChildren(icon(wanted));
    this.play.title = t(wanted);
    this.play.setAttribute("aria-label", t(wanted));
  }

  /** The film as a file of this kind. */
  async record(kind: "webm" | "mp4" | "gif"): Promise<Blob> {
    this.stop();
    const { data, director } = this;
    const progress = (share: number): void => {
      this.note.textContent = t("{0} of {1}", Math.round(share * 100), "100 %");
    };
    try {
      return kind === "gif"
        ? await recordGif(director, data, progress)
        : await recordVideo(director, data, kind, data.rate, progress);
    } finally {
      this.note.textContent = "";
    }
  }

  /** A picture of the end of each beat, as SVG text. */
  pictures(): string[] {
    return listPictures(this.director, this.data);
  }

  private async download(kind: "webm" | "mp4" | "gif"): Promise<void> {
    try {
      const url = URL.createObjectURL(await this.record(kind));
      h("a", { href: url, download: `tape.${kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    } catch (error) {
      this.note.textContent = String(error);
    }
  }
}

/** Puts a film into an element of a page. */
export function mountFilm(el: HTMLElement, data: FilmData): Film {
  speak(data.texts);
  addStyle(el, theme + css);
  const film = new Film(data);
  el.append(film.el);
  return film;
}
