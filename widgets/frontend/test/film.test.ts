// The beats of a storyboard, and the storyboard of what a reader did.
import { expect, it } from "vitest";
import { beatAt, durationOf, planBeats, splitLines, type Positions } from "../film/storyboard";
import { Trail } from "../src/trail";
import type { Timeline } from "../src/timeline";

// four rows, a sweep over rows 3, 2, 1 and an optimizer's update
const positions: Positions = {
  forward: 4,
  swept: 7,
  length: 8,
  backTo: (row) => ({ 3: 5, 2: 6, 1: 7 })[row] ?? null,
};

function listMoves(...shots: Parameters<typeof planBeats>[0]): [string, number, number][] {
  return planBeats(shots, positions)
    .filter(({ kind }) => kind !== "hold")
    .map(({ kind, before, after }) => [kind, before, after]);
}

it("shows each row once, then each step of the sweep and the update", () => {
  expect(listMoves({ shot: "forward", to: null }, { shot: "back", to: null })).toEqual([
    ["row", 0, 1],
    ["row", 1, 2],
    ["row", 2, 3],
    ["row", 3, 4],
    ["step", 4, 5],
    ["step", 5, 6],
    ["step", 6, 7],
    ["update", 7, 8],
  ]);
});

it("stops at the row that a shot names, and computes the rest before it goes back", () => {
  expect(listMoves({ shot: "forward", to: 1 }).at(-1)).toEqual(["row", 1, 2]);
  expect(listMoves({ shot: "back", to: 2 }).map(([kind]) => kind)).toEqual([
    ...Array<string>(4).fill("row"),
    "step",
    "step",
  ]);
});

it("jumps to an earlier row", () => {
  const beats = planBeats(
    [
      { shot: "back", to: null },
      { shot: "forward", to: 1 },
    ],
    positions,
  );
  expect(beats.at(-2)).toMatchObject({ kind: "hold", before: 2, after: 2 });
});

it("keeps a subtitle until the next, and gives the last one time", () => {
  const beats = planBeats(
    [
      { shot: "say", text: "one" },
      { shot: "forward", to: 0 },
      { shot: "say", text: "two" },
    ],
    positions,
  );
  expect(beats.map(({ subtitle }) => subtitle)).toEqual(["", "one", "two", "two"]);
});

it("finds the beat of a time, up to the end and past it", () => {
  const beats = planBeats([{ shot: "forward", to: null }], positions);
  expect(beatAt(beats, 0)).toEqual({ index: 0, share: 0 });
  expect(beatAt(beats, durationOf(beats) + 1)).toEqual({ index: beats.length - 1, share: 1 });
  const { index, share } = beatAt(beats, beats[0].seconds + beats[1].seconds / 2);
  expect([index, share]).toEqual([1, expect.closeTo(0.5)]);
});

it.each([
  ["a line that is too long", 12, ["a line that", "is too long"]],
  ["磁带记下每一步", 8, ["磁带记下", "每一步"]],
  ["", 8, [""]],
])("splits the subtitle %s", (text, room, lines) => {
  expect(splitLines(text, room)).toEqual(lines);
});

it("writes what a reader did as a storyboard", () => {
  const timeline = { position: 4, forward: 4, swept: 7, current: 3 };
  const trail = new Trail(timeline as unknown as Timeline);
  const go = (position: number, current: number): void => {
    const before = timeline.position;
    Object.assign(timeline, { position, current });
    trail.went(before);
  };
  go(3, 2);
  go(0, -1); // a new film
  for (const row of [0, 1, 2, 3]) go(row + 1, row);
  go(5, 3);
  go(6, 2);
  trail.cut(0);
  trail.dragged(0, 1.5);
  trail.dragged(0, 2);
  go(8, 1);
  expect(trail.text().split("\n").slice(2, -2)).toEqual([
    "story = film(tape)",
    "story.forward(to=3)",
    "story.back(to=2)",
    "story.cut(0)",
    "story.drag(0, 2)",
    "story.back()",
  ]);
});
