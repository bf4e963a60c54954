// Where the reader was when the tape records anew.
import { expect, it } from "vitest";
import { Reruns } from "../src/reruns";
import { Store } from "../src/store";
import { Timeline } from "../src/timeline";
import { diamond } from "./programs";

it("leads back to the reader's step when a sweep of the same length is there", () => {
  const store = new Store();
  store.take(diamond());
  const timeline = new Timeline(store);
  const reruns = new Reruns(store, timeline);
  timeline.go(timeline.forward + 2);
  reruns.leave();
  expect(reruns.hasBegun()).toBe(false);
  expect(reruns.findStep()).toBeNull();

  store.again++;
  expect(reruns.hasBegun()).toBe(true);
  expect(reruns.hasBegun()).toBe(false); // it is asked once
  expect(reruns.findStep()).toBe(timeline.forward + 2);

  timeline.go(1);
  reruns.leave();
  expect(reruns.findStep()).toBeNull(); // the reader has moved
});
