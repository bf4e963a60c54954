// Brings a drawn node to the present step: its classes, its numbers, and the pictures of arrays.
import { holdsAny, type Drawing } from "./drawing";
import { setText } from "./dom";
import { isBare, NODE_W, type Group, type Node } from "./graph";
import { signedMap } from "./heatmap";
import { CHAR, type DrawnNode } from "./node_shapes";
import { betweenEnds, NAME, nameInTurn, profileOf, sparkline } from "./profile";
import { notFinite } from "./scale";
import type { Row, Value } from "./schema";
import { CHARS, isShort, nodeValue, SIDES, valueText } from "./shapes";
import { updateText } from "./update";
import { currentOf, describe, elide, full, shapeText, shortName, sizeOf } from "./value";
import { t, wide } from "./words";

// where the picture of an array begins in its node: behind its shape
const [MAP_X, MAP_PAD] = [76, 16];
const MAP_LINE = 15; // its height in one line of the node

/** The nodes that the reader is at, points at, and has selected. */
export interface Spotlight {
  current: Node | null;
  hover: Node | null;
  selected: Node | null;
}

/** Is this the node, or another one of the same number? */
const shows = (node: Node, other: Node | null): boolean =>
  node === other || (node.row !== null && node.row === other?.row);

/** The last row of what a node stands for. */
const lastRow = (node: Node): number => (node.group ? node.group.end - 1 : node.first);

/** Where the reader is in a folded part: in which turn, at which row, and the number there. */
interface Inside {
  turn: number; // 0 where there are none
  row: Row;
  name: string;
  number: string;
}

/** Brings a node to the present step. */
export function paintNode(
  drawing: Drawing,
  node: Node,
  drawn: DrawnNode,
  spotlight: Spotlight,
): void {
  const { store, timeline } = drawing;
  const { row, group } = node;
  const last = lastRow(node);
  const inside = group && node === spotlight.current ? describeInside(drawing, group) : null;
  const isLayer = group?.kind === "scope" && timeline.done(last);
  const output = isLayer ? store.rows[last] : null; // what a layer gave
  paintProfile(drawing, node, drawn, inside !== null);
  const value = drawn.profile ? "" : (inside?.name ?? describeValue(drawing, node, drawn, output));
  const adjoint = inside
    ? numberInside(inside, drawn.profile)
    : describeAdjoint(drawing, node, drawn, value);
  const name = listClasses(drawing, node, spotlight).join(" ");
  const isNew = write(drawn, name, value, adjoint, inside);
  if (!drawing.plain) paintArrays(drawing, node, drawn, row ?? output, inside);
  if (!isNew || !row) return;
  const words = sayRow(drawing, row);
  drawn.el.setAttribute("aria-label", words);
  if (drawn.title) setText(drawn.title, words);
}

/** Writes a node's classes, texts and turn; false if they are as they were. */
function write(
  drawn: DrawnNode,
  name: string,
  value: string,
  adjoint: string,
  inside: Inside | null,
): boolean {
  const turn = inside?.turn ?? 0;
  const key = `${name}|${value}|${adjoint}|${turn}`;
  if (key === drawn.key) return false;
  drawn.key = key;
  drawn.el.setAttribute("class", name);
  drawn.el.ariaCurrent = currentOf(name);
  drawn.writeTurn(turn);
  if (drawn.value) setText(drawn.value, value);
  if (drawn.adjoint) setText(drawn.adjoint, adjoint);
  drawn.value?.classList.toggle("mt-shape", /^(→ )?\(/.test(value));
  return true;
}

// whether something holds, and its class
type State = [unknown, string];

/** The classes of a node at the present step. */
function listClasses(drawing: Drawing, node: Node, spotlight: Spotlight): string[] {
  const states = [
    ...listRowStates(drawing, node),
    ...listStepStates(drawing, node, spotlight.current),
    ...listReaderStates(drawing, node, spotlight),
  ];
  const kind = node.group ? "group" : (node.row?.kind ?? "operation");
  const names = states.flatMap(([holds, state]) => (holds ? [`mt-${state}`] : []));
  return ["mt-node", `mt-${kind}`, ...names];
}

/** What is known of a node's rows, whichever step it is. */
function listRowStates({ store, graph, timeline }: Drawing, node: Node): State[] {
  const { row, group, first } = node;
  const last = lastRow(node);
  const { differs } = store;
  const isFirst = !!differs && !differs.missing && node === graph.nodeOf(differs.row);
  const states: State[] = [
    [isFirst, "differs"],
    [!isFirst && differs?.rows?.some((one) => one >= first && one <= last), "unlike"],
    [store.blamed(first, group?.end), "blamed"],
    [timeline.badIn(first, last + 1), "bad"],
    [store.sweep?.target.includes(last), "target"],
  ];
  if (!row) return states;
  return [
    ...states,
    [row.kind === "variable" && !row.watched, "unwatched"],
    [row.status === "ghost", "ghost"],
    [row.cut, "cut"],
    [row.by !== null, "written"],
  ];
}

/** What the present step makes of a node. */
function listStepStates({ store, timeline }: Drawing, node: Node, current: Node | null): State[] {
  const { row, group } = node;
  const last = lastRow(node);
  const done = isDone(timeline, node);
  const isHere = shows(node, current);
  const updated = timeline.updating && timeline.updates.has(last) && node !== current;
  const adjoint = timeline.seen(last);
  return [
    [!done, "todo"],
    [isHere || updated, "current"],
    [(isHere && timeline.backward) || updated, "backward"],
    [group && node === current && !timeline.backward, "inside"],
    [row && done && isAlarming(store, row), "nan"],
    [row && timeline.settled && store.gave(row.row), "empty-handed"],
    [adjoint, "has-adjoint"],
    [adjoint && timeline.waits(last), "waits"],
  ];
}

/** What the reader makes of a node. */
function listReaderStates({ marks }: Drawing, node: Node, spotlight: Spotlight): State[] {
  const isLeftOut = (rows: Set<number> | null): boolean => rows !== null && !holdsAny(rows, node);
  return [
    [shows(node, spotlight.hover), "hover"],
    [shows(node, spotlight.selected), "selected"],
    [holdsAny(marks.found, node), "found"],
    [isLeftOut(marks.path) || isLeftOut(marks.near), "off"],
  ];
}

/** Has the program been where a node begins? */
const isDone = (timeline: Drawing["timeline"], node: Node): boolean =>
  timeline.done(node.group ? node.first : lastRow(node));

/** What an optimizer's step gave a node's row, while it is shown. */
const updateOf = ({ timeline }: Drawing, node: Node) =>
  timeline.updating ? timeline.updates.get(lastRow(node)) : undefined;

/** The text of a node's second line. */
function describeValue(drawing: Drawing, node: Node, drawn: DrawnNode, output: Row | null): string {
  const { row, group } = node;
  const update = updateOf(drawing, node);
  if (update && row) return updateText(row, update, CHARS);
  if (output) return nodeValue(output.value, output, CHARS);
  const isWritten = (drawn.value && isDone(drawing.timeline, node)) || group || isBare(row);
  return isWritten ? valueText(drawing.store, node) : "";
}

/** The text of a node's third line; `value` is that of its second. */
function describeAdjoint(drawing: Drawing, node: Node, drawn: DrawnNode, value: string): string {
  const { timeline } = drawing;
  const { row } = node;
  const adjoint = timeline.seen(lastRow(node));
  if (adjoint && drawn.adjoint) {
    const waits = timeline.waits(lastRow(node));
    return `∂ ${sizeOf(adjoint, CHARS - (waits ? 6 : 2))}${waits ? " + …" : ""}`;
  }
  if (!row || !isDone(timeline, node)) return "";
  if (!adjoint && gaveNone(drawing, row)) return "∂ None";
  if (row.released && !row.value && !value.endsWith(t("released"))) return t("released");
  const isCarried = row.tangent && !timeline.backward;
  return isCarried ? `→ ${nodeValue(row.tangent, row, CHARS - 2)}` : "";
}

/** Did the call give None for a row, as the reader may know by now? */
const gaveNone = ({ store, timeline }: Pick<Drawing, "store" | "timeline">, row: Row): boolean =>
  timeline.settled && !timeline.updating && store.gave(row.row) === "None";

/** A row and its gradient at the present step, for those who hear it or rest the pointer on it. */
export function sayRow(state: Pick<Drawing, "store" | "timeline">, row: Row): string {
  const adjoint = state.timeline.seen(row.row);
  const text = adjoint ? elide(full(adjoint).replace(/\s+/g, " "), 60) : "None";
  return describe(row) + (adjoint || gaveNone(state, row) ? t(", adjoint {0}", text) : "");
}

/**
 * NaN is wrong everywhere, infinity only where something came of it: a mask holds it on purpose.
 */
function isAlarming({ alarms }: Drawing["store"], row: Row): boolean {
  const what = notFinite(row.value);
  return (
    what === "NaN" ||
    (what !== "" && alarms.some((alarm) => alarm.kind === "value" && alarm.row <= row.row))
  );
}

/** Where in a folded group the reader is, and the number there. */
function describeInside({ timeline, store }: Drawing, group: Group): Inside {
  const row = store.rows[timeline.current];
  const turn = group.starts.filter((start) => start <= row.row).length;
  const name = elide(nameInTurn(store, group.starts, row), CHARS);
  const room = CHARS - 2 - (turn ? Math.min(NAME, wide(name)) + 1 : 0);
  const adjoint = timeline.adjoint(row.row);
  const number = adjoint ? `∂ ${sizeOf(adjoint, room - 1)}` : nodeValue(row.value, row, room);
  return { turn, row, name, number };
}

/** The number there: below a profile with its name, which is above it otherwise. */
const numberInside = ({ name, number }: Inside, profile: string): string =>
  profile ? `${shortName(name, NAME)}: ${number}` : number.replace(/^(?![∂(])/, "= ");

/**
 * Draws the arrays that are too long to be written: those of the row in a folded part at which the
 * reader is, else the node's own.
 */
function paintArrays(
  drawing: Drawing,
  node: Node,
  drawn: DrawnNode,
  own: Row | null,
  inside: Inside | null,
): void {
  const { timeline } = drawing;
  const isArray = [own, inside?.row].some((row) => row?.shape.length);
  if (!isArray && !drawn.mapped[0] && !drawn.mapped[1]) return;
  if (inside) {
    const { row } = inside;
    const number = drawn.profile ? null : (timeline.adjoint(row.row) ?? row.value);
    paintMaps(drawn, row, null, number, []);
    return;
  }
  const adjoint = own ? timeline.seen(lastRow(node)) : null;
  paintMaps(drawn, own, ownValue(drawing, node, own), adjoint, largestOfPair(drawing, node));
}

/** The value of a node's own row once it is computed, or what an update has made of it. */
function ownValue(drawing: Drawing, node: Node, own: Row | null): Value | null {
  if (!own || !isDone(drawing.timeline, node)) return null;
  return updateOf(drawing, node)?.now ?? own.value;
}

/** The largest number in the values of both compared tapes, and in both adjoints. */
const largestOfPair = ({ store }: Drawing, { first }: Node): number[] =>
  store.differs?.most?.[first] ?? [];

/**
 * Draws a value and an adjoint that are too long to be written, with `most` as the numbers of their
 * strongest colours.
 */
function paintMaps(
  drawn: DrawnNode,
  of: Row | null,
  value: Value | null,
  adjoint: Value | null,
  most: number[],
): void {
  if (drawn.mapped[0] === value && drawn.mapped[1] === adjoint) return;
  drawn.mapped = [value, adjoint];
  const seen = (
    one: Value | null,
    y: number,
    room: number,
    shape: string,
    height = MAP_LINE,
  ): SVGGElement | null => {
    const round = of?.kind === "source" ? 6 : 0; // its ends
    const x = Math.max(MAP_X, MAP_PAD + round + CHAR * wide(shape));
    const map =
      one && !isShort(one, room, of) && x < NODE_W - 24
        ? signedMap(one, x, y, NODE_W - x - 8 - round, height, most[+(one === adjoint)])
        : null;
    // it begins beside its shape
    const unused = height - Number(map?.lastElementChild?.getAttribute("height"));
    map?.setAttribute("transform", `translate(0 ${-Math.min(unused, height - MAP_LINE) / 2})`);
    return map;
  };
  const shape = (row: Row | null, room: number): string => (row ? shapeText(row, room) : "");
  drawn.maps.replaceChildren(
    ...[
      seen(
        value,
        26,
        CHARS,
        (value === of?.value ? "" : "→ ") + shape(of, SIDES),
        drawn.adjoint?.textContent ? MAP_LINE : 2 * MAP_LINE + 2, // the line of the adjoint is free
      ),
      seen(adjoint, 43, CHARS - 2, drawn.adjoint?.textContent ?? ""),
    ].filter((map) => map !== null),
  );
}

/** Of a folded loop its numbers by turn, with a point at the turn where the reader is. */
function paintProfile(drawing: Drawing, node: Node, drawn: DrawnNode, inside: boolean): void {
  const { group } = node;
  const { timeline } = drawing;
  if (!group || drawing.plain || group.starts.length === 0) return;
  const profile = profileOf(group.starts, group.end, drawing.store, timeline);
  const turn = inside ? group.starts.filter((start) => start <= timeline.current).length - 1 : -1;
  const isWritten = inside || timeline.adjoint(group.end - 1);
  const ends = profile?.ends && !isWritten ? betweenEnds(profile.of, profile.ends, CHARS) : "";
  const key = profile
    ? `${profile.of}|${turn}|${ends}|${profile.sizes.join()}|${drawing.store.moved}`
    : "";
  if (key === drawn.profile) return;
  drawn.profile = key;
  drawn.el.querySelector(".mt-profile")?.remove();
  if (!profile) return;
  drawn.el.append(
    sparkline(profile, ends, NODE_W - 20, turn, (k) =>
      drawing.events.turn(group.starts[k], group.starts[k + 1] ?? group.end),
    ),
  );
}
