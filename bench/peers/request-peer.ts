/** One of the two processes of `measure/requests.ts`: `request-peer WAY ADDRESS [HOST:PORT]`, then orders. With a peer it is the client. */
import { alloc } from '../../src/entry/index.js';
import { percentile } from '../measure/latency.js';
import type { Effort } from '../measure/measurement.js';
import type { Answer } from '../measure/peer.js';
import { type Asking, REQUEST_WAYS, type Requester, type RequestWayName } from './requesters/index.js';

/** What a peer can be told to do. */
export type RequestOrder = { readonly kind: 'hello' } | ({ readonly kind: 'ask'; readonly effort: Effort } & Asking);

const [way, address, place] = process.argv.slice(2);
const isName = (name: string): name is RequestWayName => name in REQUEST_WAYS;
if (!isName(way)) throw new Error(`there is no way ${way}`);
const requests = REQUEST_WAYS[way];

/** More times than that in one stretch are not kept. */
const MOST_TIMES = 1 << 18;

/** Counts requests that are answered, each in the stretch in which it is, and keeps their times. */
class Stretches {
  readonly #effort: Effort;
  readonly #times: readonly Float64Array[];
  readonly #counts: number[];
  readonly #beginMs: number;

  constructor(effort: Effort) {
    this.#effort = effort;
    // Written to, so that the kernel has given all of it before the first request.
    this.#times = Array.from({ length: effort.stretches }, () => new Float64Array(MOST_TIMES).fill(0));
    this.#counts = new Array<number>(effort.stretches).fill(0);
    this.#beginMs = performance.now() + effort.warmUpMs;
  }

  /** @returns whether there is to be another */
  count(sentMs: number, nowMs: number): boolean {
    const { stretches, stretchMs } = this.#effort;
    const stretch = Math.floor((nowMs - this.#beginMs) / stretchMs);
    if (stretch < 0) return true;
    if (stretch >= stretches) return false;
    const count = this.#counts[stretch];
    if (count < MOST_TIMES) this.#times[stretch][count] = (nowMs - sentMs) * 1000;
    this.#counts[stretch] = count + 1;
    return true;
  }

  /** As samples, how many were answered each second; as a row, the median time of each stretch in µs. */
  get answer(): Answer {
    const sorted = this.#times.map((times, i) => times.slice(0, Math.min(MOST_TIMES, this.#counts[i])).sort());
    const all = Float64Array.from(sorted.flatMap((times) => Array.from(times))).sort();
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => percentile(all, share));
    const medians = sorted.filter(({ length }) => length > 0).map((times) => percentile(times, 0.5));
    const samples = this.#counts.map((count) => (count * 1000) / this.#effort.stretchMs);
    return { samples, rows: [medians], percentiles: { p50, p99, p999 } };
  }
}

/** Asks so often at a time, the next of which follows each answer. */
async function ask(
  requester: Requester,
  { bytes, depth, effort }: Asking & { readonly effort: Effort },
): Promise<Answer> {
  const body = alloc(bytes);
  const stretches = new Stretches(effort);
  const lane = async (index: number): Promise<void> => {
    for (let sentMs = performance.now(), goesOn = true; goesOn;) {
      const { length } = await requester.request(body, index);
      if (length !== bytes) throw new Error(`an answer of ${length} bytes`);
      const nowMs = performance.now();
      goesOn = stretches.count(sentMs, nowMs);
      sentMs = nowMs;
    }
  };
  await Promise.all(Array.from({ length: depth }, (_, index) => lane(index)));
  return stretches.answer;
}

function onOrder(obey: (order: RequestOrder) => Promise<Answer>): void {
  // `measure/requests.ts` sends nothing else.
  process.on('message', (order: RequestOrder) => void obey(order).then((reply) => process.send?.(reply)));
}

if (process.argv.length === 4) {
  const port = await requests.serve(address);
  onOrder(() => Promise.resolve({ info: port }));
} else
  onOrder(async (order) => (order.kind === 'hello' ? {} : ask(await requests.connect(place, address, order), order)));
