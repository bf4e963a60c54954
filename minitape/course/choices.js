export default {
  initialize: ({ model }) => hear(model),
  render({ model, el }) {
    const make = (name, text, parts = {}) => Object.assign(document.createElement(name), { textContent: text }, parts);
    const row = make("div", "", { role: "group", ariaLabel: model.get("text") });
    const said = make("p", "", { role: "status" });
    const buttons = model.get("choices").map((choice) => make("button", choice, { type: "button" }));
    let live = true; // the kernel that asked is still there
    const draw = () => {
      for (const button of buttons) {
        button.setAttribute("aria-pressed", button.textContent === model.get("chosen"));
        button.setAttribute("aria-disabled", !live);
      }
      const open = live && !model.get("chosen");
      el.classList.toggle("minitape-open", open && Boolean(model.get("veiled"))); // what follows is veiled
      said.textContent = live ? model.get("said") : model.get("gone");
    };
    row.addEventListener("click", ({ target }) => {
      if (!live || !buttons.includes(target)) return;
      try {
        model.send({ choice: target.textContent });
      } catch {
        live = false;
        draw();
      }
    });
    const veil = make("div", model.get("veiled"), { className: "minitape-veil" });
    const lift = make("button", model.get("lift"), { type: "button" });
    lift.addEventListener("click", () => el.closest(".jp-Notebook")?.classList.add("minitape-lifted"));
    veil.append(" ", lift);
    row.append(...buttons);
    const question = make("p", ` ${model.get("text")}`);
    question.prepend(make("b", model.get("label")));
    el.classList.add("minitape-choices");
    el.append(question, row, said, veil);
    model.on("change", draw);
    model.widget_manager?.get_model(model.get("_key")).then((own) => {
      const look = () => {
        live = own.comm_live !== false;
        draw();
      };
      own.on("comm_live_update", look);
      look();
    });
    draw();
  },
};
