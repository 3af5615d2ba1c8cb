/** One of the two processes of `measure/rdma.ts`: `rdma-peer HOST ADDRESS [QUEUE PAIRS]`, then orders. */
import type { Effort } from '../measure/measurement.js';
import { Endpoint, type EndpointInfo } from './endpoint.js';
import { profileOf } from './profile.js';

/** What a peer can be told to do. */
export type Order =
  | { readonly kind: 'hello' }
  | { readonly kind: 'connect'; readonly peer: EndpointInfo }
  | { readonly kind: 'ping'; readonly bytes: number; readonly effort: Effort }
  | { readonly kind: 'pong' }
  | { readonly kind: 'serve' }
  | {
      readonly kind: 'bandwidth';
      readonly verb: 'write' | 'read';
      readonly bytes: number;
      readonly outstanding: number;
      readonly effort: Effort;
    }
  | { readonly kind: 'onAll'; readonly bytes: number; readonly outstanding: number; readonly effort: Effort }
  | { readonly kind: 'inTurn'; readonly bytes: number; readonly effort: Effort }
  | { readonly kind: 'rate'; readonly listLength: number; readonly effort: Effort }
  /** Another order, and where its time goes. */
  | { readonly kind: 'profile'; readonly order: Order };

/** Between looks at the event loop, where the next order comes. */
const SLICE_MS = 20;

const [host, address, qpCount = '1'] = process.argv.slice(2);
const endpoint = new Endpoint(host === 'inline' ? 'inline' : 'thread', address, Number(qpCount));

function serve(): void {
  endpoint.serve(SLICE_MS);
  setImmediate(serve);
}

function obey(order: Order): object | undefined {
  switch (order.kind) {
    case 'hello':
      return { info: endpoint.info };
    case 'connect':
      endpoint.connect(order.peer);
      return {};
    case 'ping':
      return endpoint.ping(order.bytes, order.effort);
    case 'pong':
      endpoint.pong();
      return undefined;
    case 'serve':
      // A NIC in a thread of its own serves by itself.
      if (host === 'inline') serve();
      return {};
    case 'bandwidth':
      return endpoint.bandwidth(order.verb, order.bytes, order.outstanding, order.effort);
    case 'onAll':
      return { rows: endpoint.writeOnAll(order.bytes, order.outstanding, order.effort) };
    case 'inTurn':
      return { samples: endpoint.writeInTurn(order.bytes, order.effort) };
    case 'rate':
      return { samples: endpoint.writeRate(order.listLength, order.effort) };
    case 'profile':
      return { profile: profileOf(() => obey(order.order)) };
  }
}

// `measure/rdma.ts` sends nothing else.
process.on('message', (order: Order) => {
  const answer = obey(order);
  if (answer !== undefined) process.send?.(answer);
});
