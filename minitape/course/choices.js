export default {
  initialize: ({ model }) => hear(model),
  render({ model, el }) {
    const make = (name, text, parts = {}) => Object.assign(document.createElement(name), { textContent: text }, parts);
    const row = make("div", "", { role: "group", ariaLabel: model.get("text") });
    const said = make("p", "", { role: "status" });
    const buttons = model.get("choices").map((choice) => make("button", choice, { type: "button" }));
    const draw = () => {
      for (const button of buttons) button.setAttribute("aria-pressed", button.textContent === model.get("chosen"));
      said.textContent = model.get("said");
    };
    row.addEventListener("click", ({ target }) => {
      if (!buttons.includes(target)) return;
      try {
        model.send({ choice: target.textContent });
      } catch {
        said.textContent = "The kernel was started anew since: run this cell again, and choose then.";
      }
    });
    row.append(...buttons);
    const question = make("p", ` ${model.get("text")}`);
    question.prepend(make("b", "Predict."));
    el.classList.add("minitape-choices");
    el.append(question, row, said);
    model.on("change", draw);
    draw();
  },
};
