// The worker's side of placing (planner.ts is the page's): it keeps the skeletons and lays out what
// is wished last.
import { layoutInSlices, type Layout, type Wish } from "./layout";
import { Skeleton, type SkeletonPart } from "./skeleton";

export type Order = {
  client: number;
  part?: SkeletonPart;
  wish?: Wish;
  sequence?: number;
  forget?: boolean;
};
export type Answer = { client: number; sequence: number; layout: Layout };

const SLICE = 20; // milliseconds of work before newer orders are looked at

const skeletons = new Map<number, Skeleton>();
const newest = new Map<number, number>(); // sequence number of a client's last wish

const turns: (() => void)[] = [];
let channel: MessageChannel;
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    turns.push(resolve);
    channel.port2.postMessage(null);
  });

async function layOut(client: number, wish: Wish, sequence: number): Promise<void> {
  const skeleton = skeletons.get(client);
  if (!skeleton) return;
  await turn(); // the newest wish may already be there
  const stopped = (): boolean => newest.get(client) !== sequence;
  if (stopped()) return;
  const layout = await layoutInSlices(skeleton, wish, SLICE, turn, stopped);
  if (!layout) return;
  const buffers = [
    layout.node,
    layout.at,
    layout.home,
    layout.column,
    layout.slot,
    layout.shown,
    layout.edgeAt,
    layout.edges,
  ].map((array) => array.buffer as ArrayBuffer);
  (postMessage as (message: Answer, transfer: Transferable[]) => void)(
    { client, sequence, layout },
    buffers,
  );
}

function take({ data }: MessageEvent<Order>): void {
  const { client, part, wish, sequence = 0, forget } = data;
  newest.set(client, sequence);
  if (forget) {
    skeletons.delete(client);
    newest.delete(client);
  }
  if (part) {
    if (part.first === 0) skeletons.set(client, new Skeleton());
    skeletons.get(client)?.append(part);
  }
  if (wish) void layOut(client, wish, sequence);
}

/** From now on this worker hears orders. */
export function serve(): void {
  channel = new MessageChannel();
  channel.port1.onmessage = () => turns.shift()?.();
  onmessage = take;
}
