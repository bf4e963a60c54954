const PACE = 220; // milliseconds from picture to picture

export default {
  render({ model, el }) {
    const make = (name, parts) => Object.assign(document.createElement(name), parts);
    const sources = model.get("sources");
    const last = sources.length - 1;
    const picture = make("img", {});
    const slider = make("input", { type: "range", min: 0, max: last, step: 1, value: model.get("start") });
    slider.setAttribute("aria-label", model.get("name"));
    const said = make("output", {});
    const play = make("button", { type: "button" });
    let timer = null;
    const draw = () => {
      const at = Number(slider.value);
      const value = Number(model.get("values")[at].toPrecision(4));
      picture.src = sources[at];
      picture.alt = model.get("words")[at];
      said.textContent = `${model.get("name")} = ${value}`;
      slider.setAttribute("aria-valuetext", said.textContent);
      play.textContent = model.get(timer ? "pause" : "play");
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      draw();
    };
    const step = () => {
      slider.value = Number(slider.value) + 1;
      if (Number(slider.value) === last) stop();
      else draw();
    };
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (Number(slider.value) === last) slider.value = 0;
      timer = setInterval(step, PACE);
      draw();
    });
    slider.addEventListener("input", () => (timer ? stop() : draw()));
    const row = make("div", {});
    // The arrow keys are the slider's, not the notebook's. Ctrl-S is the notebook's.
    row.addEventListener("keydown", (event) => !event.ctrlKey && !event.metaKey && event.stopPropagation());
    row.append(play, slider, said);
    el.classList.add("minitape-moving");
    const frame = make("p", {});
    frame.append(picture);
    el.append(frame, row);
    draw();
    return () => clearInterval(timer);
  },
};
