// Light or dark: a picture in a frame is told what its page shows.
const dark = () => {
  const chosen = document.body.dataset.theme;
  return chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};
const frames = () => document.querySelectorAll("iframe.tapeview, iframe.playground");
const tell = (frame) => frame.contentWindow?.postMessage({ theme: dark() ? "dark" : "light" }, "*");
const tellAll = () => frames().forEach(tell);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellAll);

// A picture says how high it is; its frame follows.
addEventListener("message", (event) => {
  const height = event.data?.tapeview;
  if (!(height > 0)) return;
  for (const frame of frames()) {
    if (frame.contentWindow !== event.source) continue;
    frame.style.height = `${height}px`;
    tell(frame);
  }
});

// A prediction: what the cell with the answer printed is hidden until one has chosen, or asked for the answer.
addEventListener("DOMContentLoaded", () => {
  frames().forEach((frame) => frame.addEventListener("load", () => tell(frame)));
  new MutationObserver(tellAll).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  const answers = [...document.querySelectorAll(".output details")];
  for (const question of document.querySelectorAll(".predict")) {
    const answer = answers.find((one) => question.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    const cell = answer?.closest(".cell");
    if (!cell) continue;
    cell.classList.add("waits");
    const choices = [...question.querySelectorAll("button")].map((button) => button.textContent);
    answer.addEventListener("toggle", () => cell.classList.remove("waits"), { once: true });
    question.addEventListener("click", ({ target }) => {
      if (!target.matches("button")) return;
      for (const button of question.querySelectorAll("button")) button.setAttribute("aria-pressed", button === target);
      answer.previousElementSibling?.remove(); // it says that one must choose first
      answer.open = true;
      for (const line of answer.querySelectorAll("li")) { // of the wrong choices, only what was chosen is answered
        const choice = line.querySelector("strong, code")?.textContent;
        line.hidden = choice !== target.textContent && choices.includes(choice);
      }
    });
  }
});
