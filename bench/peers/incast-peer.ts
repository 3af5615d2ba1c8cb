/** One of the processes of `measure/incast.ts`: `incast-peer ADDRESS DEVICES` opens so many, from that address on. */
import type { Effort } from '../measure/measurement.js';
import { Endpoint, type EndpointInfo } from './endpoint.js';

/** What a peer can be told to do. */
export type IncastOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'receive'; readonly senders: readonly EndpointInfo[] }
  /** `first`: which of the receiver's queue pairs is for the first device here. */
  | { readonly kind: 'connect'; readonly receiver: EndpointInfo; readonly first: number }
  | { readonly kind: 'send'; readonly bytes: number; readonly startAtMs: number; readonly effort: Effort };

const LARGEST_BYTES = 1 << 16;
const OUTSTANDING = 4;
/** Between looks at the event loop. */
const SLICE_MS = 20;

const [address, devices] = process.argv.slice(2);
let endpoints: readonly Endpoint[] = [];

function open(count: number, qpCount: number): readonly EndpointInfo[] {
  const dot = address.lastIndexOf('.') + 1;
  const [network, first] = [address.slice(0, dot), Number(address.slice(dot))];
  endpoints = Array.from(
    { length: count },
    (_, i) => new Endpoint('inline', `${network}${first + i}`, qpCount, LARGEST_BYTES),
  );
  return endpoints.map(({ info }) => info);
}

function serve(): void {
  endpoints[0].serve(SLICE_MS);
  setImmediate(serve);
}

/** Every device in turn, all on the wall clock, which the other processes share. @returns bytes of each stretch, a row for each device */
function send(bytes: number, startAtMs: number, { stretches, stretchMs, warmUpMs }: Effort): number[][] {
  const rows = endpoints.map(() => new Array<number>(stretches).fill(0));
  const beginMs = startAtMs + warmUpMs;
  for (;;) {
    const stretch = Math.floor((Date.now() - beginMs) / stretchMs);
    if (stretch >= stretches) return rows;
    for (const [i, endpoint] of endpoints.entries()) {
      const moved = endpoint.keepBusy('write', bytes, OUTSTANDING) * bytes;
      if (stretch >= 0) rows[i][stretch] += moved;
    }
  }
}

function obey(order: IncastOrder): object {
  switch (order.kind) {
    case 'hello':
      return { info: open(Number(devices), 1) };
    case 'receive': {
      const info = open(1, order.senders.length);
      order.senders.forEach((sender, i) => endpoints[0].connectOne(i, sender, sender.qpNums[0]));
      serve();
      return { info };
    }
    case 'connect': {
      const { receiver, first } = order;
      endpoints.forEach((endpoint, i) => endpoint.connect({ ...receiver, qpNums: [receiver.qpNums[first + i]] }));
      return {};
    }
    case 'send':
      return { rows: send(order.bytes, order.startAtMs, order.effort) };
  }
}

// `measure/incast.ts` sends nothing else.
process.on('message', (order: IncastOrder) => process.send?.(obey(order)));
