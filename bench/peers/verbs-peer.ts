/** One of the two processes of `measure/verbs.ts`: `verbs-peer HOST ADDRESS`, then orders. */
import type { Effort } from '../measure/measurement.js';
import { type Verb, VerbsEnd, type VerbsInfo } from './verbs-end.js';

/** What a peer can be told to do. */
export type VerbsOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'connect'; readonly peer: VerbsInfo }
  | { readonly kind: 'serve'; readonly answer?: Verb; readonly bytes: number }
  | { readonly kind: 'rate'; readonly verb: Verb; readonly bytes: number; readonly effort: Effort }
  | {
      readonly kind: 'echoRate';
      readonly request: Verb;
      readonly bytes: number;
      readonly window: number;
      readonly effort: Effort;
    }
  | { readonly kind: 'echoLatency'; readonly request: Verb; readonly bytes: number; readonly effort: Effort };

/** Between looks at the event loop, where the next order comes. */
const SLICE_MS = 20;

const [host, address] = process.argv.slice(2);
const end = new VerbsEnd(host === 'inline' ? 'inline' : 'thread', address);

function serve(): void {
  end.serve(SLICE_MS);
  setImmediate(serve);
}

function obey(order: VerbsOrder): object {
  switch (order.kind) {
    case 'hello':
      return { info: end.info };
    case 'connect':
      end.connect(order.peer);
      return {};
    case 'serve':
      end.answerWith(order.answer, order.bytes);
      serve();
      return {};
    case 'rate':
      return end.rate(order.verb, order.bytes, order.effort);
    case 'echoRate':
      return end.echoRate(order.request, order.bytes, order.window, order.effort);
    case 'echoLatency':
      return end.echoLatency(order.request, order.bytes, order.effort);
  }
}

// `measure/verbs.ts` sends nothing else.
process.on('message', (order: VerbsOrder) => {
  const answer = obey(order);
  process.send?.(answer);
});
