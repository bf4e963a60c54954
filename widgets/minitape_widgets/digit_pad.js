// A pad to draw digits on, and the network that reads them. A notebook shows it as a widget, and a saved page as itself.
const PAD = 240; // the width of the pad in pixels of the page
const NEAR = 3; // points that are nearer to each other are one

// As `rasterize_strokes` in digits.py does it: as large as fits, in the middle.
function rasterize(strokes, { side, margin, pen }) {
  const points = strokes.flat();
  const low = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const high = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const scale = (side - 1 - 2 * margin) / Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
  const place = (point) => [0, 1].map((axis) => (point[axis] - (low[axis] + high[axis]) / 2) * scale + (side - 1) / 2);
  const segments = strokes.flatMap((stroke) => {
    const placed = stroke.map(place);
    return placed.length > 1 ? placed.slice(1).map((end, k) => [placed[k], end]) : [[placed[0], placed[0]]];
  });
  return Array.from({ length: side * side }, (_, pixel) => {
    const [x, y] = [pixel % side, Math.floor(pixel / side)];
    const distances = segments.map(([[ax, ay], [bx, by]]) => {
      const [dx, dy] = [bx - ax, by - ay];
      const along = ((x - ax) * dx + (y - ay) * dy) / Math.max(dx * dx + dy * dy, 1e-12);
      const nearest = Math.min(Math.max(along, 0), 1);
      return Math.hypot(x - ax - nearest * dx, y - ay - nearest * dy);
    });
    return Math.min(Math.max(pen + 0.5 - Math.min(...distances), 0), 1);
  });
}

// The chances of the ten digits: softmax(tanh(pixels @ w1 + b1) @ w2 + b2).
function readPixels(pixels, [w1, b1, w2, b2]) {
  const multiply = (row, matrix, bias) =>
    bias.map((start, column) => row.reduce((sum, value, k) => sum + value * matrix[k][column], start));
  const scores = multiply(multiply(pixels, w1, b1).map(Math.tanh), w2, b2);
  const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

const findLargest = (chances) => chances.indexOf(Math.max(...chances));

function render({ model, el }) {
  const make = (name, parts = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), parts);
    made.append(...inside);
    return made;
  };
  const words = model.get("words");
  const grid = model.get("grid");
  const says = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const canvas = make("canvas", { width: PAD, height: PAD, ariaLabel: words.pad });
  canvas.setAttribute("role", "img");
  const task = make("p", { className: "task" });
  const answer = make("p", { className: "answer" });
  answer.setAttribute("role", "status");
  const bars = Array.from({ length: 10 }, () => make("i"));
  const chart = make("div", { className: "chart", ariaHidden: "true" });
  bars.forEach((bar, digit) => chart.append(make("span", {}, bar, `${digit}`)));
  const clear = make("button", { type: "button", textContent: words.clear });
  const keep = make("button", { type: "button", textContent: words.keep });
  const undo = make("button", { type: "button", textContent: words.undo });
  const kept = make("div", { className: "kept" });
  const pen = canvas.getContext("2d");
  const keeps = Boolean(model.set); // a page keeps nothing
  let strokes = [];
  let drawing = false;

  const drawStrokes = (context, lines, size) => {
    context.clearRect(0, 0, size, size);
    Object.assign(context, { lineWidth: size / 16, lineCap: "round", lineJoin: "round", strokeStyle: "#007cc2" });
    for (const line of lines) {
      context.beginPath();
      context.moveTo(...line[0]);
      for (const point of line) context.lineTo(...point);
      context.stroke();
    }
  };
  const read = (lines) => readPixels(rasterize(lines, grid), model.get("parameters"));
  const show = () => {
    drawStrokes(pen, strokes, PAD);
    const chances = strokes.length ? read(strokes) : Array(10).fill(0);
    bars.forEach((bar, digit) => {
      bar.style.height = `${Math.round(60 * chances[digit])}px`;
    });
    const digit = findLargest(chances);
    answer.textContent = strokes.length
      ? says(words.reads, { digit, percent: Math.round(100 * chances[digit]) })
      : words.empty;
    const drawn = model.get("drawings");
    task.textContent = !keeps ? words.try : drawn.length < 10 ? says(words.task, { digit: drawn.length }) : words.done;
    keep.disabled = !strokes.length || drawn.length >= 10;
    clear.disabled = !strokes.length;
    undo.disabled = !drawn.length;
  };
  const showKept = () => {
    const drawn = model.get("drawings");
    const readings = drawn.map(findReading);
    kept.replaceChildren(
      ...drawn.map((lines, digit) => {
        const small = make("canvas", { width: 48, height: 48 });
        const all = lines.flat();
        const [low, high] = [Math.min, Math.max].map((end) => [0, 1].map((axis) => end(...all.map((p) => p[axis]))));
        const scale = 40 / Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
        const fit = (point) => [0, 1].map((axis) => (point[axis] - (low[axis] + high[axis]) / 2) * scale + 24);
        drawStrokes(small.getContext("2d"), lines.map((line) => line.map(fit)), 48);
        const right = readings[digit] === digit;
        const figure = make("figure", {}, small, make("figcaption", { textContent: `${readings[digit]} ${right ? "✓" : "✗"}` }));
        figure.classList.toggle("wrong", !right);
        figure.ariaLabel = says(words.one, { digit, read: readings[digit] });
        return figure;
      }),
    );
    if (drawn.length) {
      const right = readings.filter((digit, k) => digit === k).length;
      kept.append(make("p", { textContent: says(words.score, { right, count: drawn.length }) }));
    }
  };
  function findReading(lines) {
    return findLargest(read(lines));
  }
  const findPoint = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top].map((place, axis) =>
      Math.round((place * PAD) / (axis ? box.height : box.width)),
    );
  };
  canvas.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    drawing = true;
    strokes = [...strokes, [findPoint(event)]];
    show();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    const line = strokes[strokes.length - 1];
    const point = findPoint(event);
    const last = line[line.length - 1];
    if (Math.hypot(point[0] - last[0], point[1] - last[1]) < NEAR) return;
    line.push(point);
    show();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (drawing = false));
  const wipe = () => {
    strokes = [];
    show();
  };
  const store = (drawings) => {
    model.set("drawings", drawings);
    model.save_changes();
    showKept();
    wipe();
  };
  clear.addEventListener("click", wipe);
  keep.addEventListener("click", () => store([...model.get("drawings"), strokes]));
  undo.addEventListener("click", () => store(model.get("drawings").slice(0, -1)));
  const buttons = make("div", { className: "buttons" }, ...(keeps ? [keep, clear, undo] : [clear]));
  el.classList.add("minitape-pad");
  el.append(task, make("div", { className: "pad" }, canvas, make("div", {}, chart, answer, buttons)), kept);
  showKept();
  show();
}

export default { render, rasterize, readPixels };
