import { type Context, WcStatus, wcStatusStr, type WorkCompletion } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import { Turns } from '../../kit/interrupt.js';
import { markPages, unmarkedPages } from './memory.js';
import { type Endpoint, RECV_WRID, SEND_WRID } from './endpoint.js';
import { type ClockCycles, Timestamps } from './timestamps.js';
import type { PingPongTool } from '../tools.js';
import { Waiting } from './waiting.js';

/** How long a side that is done still answers the peer's retransmissions: four ACK timeouts of exponent 14. */
const LINGER_MS = 270;

export interface PingPongOptions {
  /** How many messages go each way, over all QPs together. */
  readonly iterations: number;
  readonly qps: number;
  readonly rxDepth: number;
  /** Whether this side sends the first message of each QP: the client does. */
  readonly serves: boolean;
  readonly validate: boolean;
  readonly timestamps: boolean;
}

export interface PingPongResult {
  /** Messages each way. */
  readonly iterations: number;
  readonly elapsedUs: number;
  /** Pages whose content was wrong; only when asked to validate. */
  readonly invalidPages: readonly number[];
  readonly clockCycles?: ClockCycles;
  /** Set when the peer left before it acknowledged our last message. */
  readonly note?: string;
}

/** The loop that the C tools run: on each QP, a message goes out when one came in and the one before is done. */
export class PingPong {
  readonly #context: Context;
  readonly #tool: PingPongTool;
  readonly #endpoint: Endpoint;
  readonly #options: PingPongOptions;
  readonly #waiting: Waiting;
  readonly #timestamps: Timestamps | undefined;
  /** By QP: the ids of what must complete before it sends. */
  readonly #pending: number[];
  #sent = 0;
  #received = 0;
  #startedMs = 0;

  constructor(context: Context, tool: PingPongTool, endpoint: Endpoint, options: PingPongOptions) {
    this.#context = context;
    this.#tool = tool;
    this.#endpoint = endpoint;
    this.#options = options;
    const meaning = tool.service.reliable
      ? 'if it is gone, end this side by Ctrl-C'
      : 'a packet may be lost, which nobody repeats here, or the peer may be gone: end this side by Ctrl-C';
    this.#waiting = new Waiting(context, [endpoint.cq], endpoint.channel, { meaning });
    this.#timestamps = options.timestamps ? new Timestamps(context.queryDeviceEx().completionTimestampMask) : undefined;
    this.#pending = Array<number>(options.qps).fill(RECV_WRID);
  }

  async run(): Promise<PingPongResult> {
    const { iterations, serves, validate, qps, rxDepth } = this.#options;
    if (serves) {
      if (validate) markPages(this.#endpoint.message);
      for (let i = 0; i < qps; i += 1) this.#send(i);
    }
    let note: string | undefined;
    this.#startedMs = performance.now();
    const turns = new Turns();
    while (note === undefined && (this.#received < iterations || this.#sent < iterations)) {
      for (const completion of this.#waiting.next(rxDepth + qps)) note ??= this.#take(completion);
      if (turns.isDue) await turns.take();
    }
    const elapsedUs = this.#elapsedUs;
    const invalidPages = validate && !serves ? unmarkedPages(this.#endpoint.message) : [];
    const clockCycles = this.#timestamps?.result;
    if (this.#tool.service.reliable) this.#linger();
    return {
      iterations,
      elapsedUs,
      invalidPages,
      ...(clockCycles === undefined ? {} : { clockCycles }),
      ...(note === undefined ? {} : { note }),
    };
  }

  /** What there is to report when the user ends the game before its end; undefined before the first message. */
  get soFar(): PingPongResult | undefined {
    if (this.#received === 0) return undefined;
    return { iterations: this.#received, elapsedUs: this.#elapsedUs, invalidPages: [] };
  }

  get #elapsedUs(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000);
  }

  #send(index: number): void {
    this.#endpoint.postSend(index);
    this.#pending[index] = RECV_WRID | SEND_WRID;
  }

  /** Counts one completion and answers it. A sentence back means that the game ended early, but well. */
  #take(completion: WorkCompletion): string | undefined {
    const { iterations, qps } = this.#options;
    if (completion.status !== WcStatus.SUCCESS) return this.#endedBy(completion);
    const index = this.#endpoint.indexOf(completion.qpNum);
    if (index < 0) throw new ToolError(`Couldn't find QPN ${completion.qpNum.toString(16).padStart(6, '0')}`);
    const wrId = Number(completion.wrId);
    if (wrId === SEND_WRID) {
      this.#sent += 1;
    } else {
      this.#endpoint.outstandingReceives -= 1;
      if (this.#endpoint.outstandingReceives <= qps) this.#endpoint.fillReceives();
      this.#received += 1;
      this.#timestamps?.add(completion.completionTimestamp ?? 0n);
    }
    this.#pending[index] &= ~wrId;
    if (this.#sent < iterations && this.#pending[index] === 0) this.#send(index);
    return undefined;
  }

  /**
   * The last acknowledgement of a ping-pong can be lost for good, since a peer that has all its messages leaves. With
   * every message received, only the news that our last ones arrived is missing, so that is no failure.
   */
  #endedBy(completion: WorkCompletion): string {
    const { iterations, qps } = this.#options;
    const lastSend = Number(completion.wrId) === SEND_WRID && this.#sent >= iterations - qps;
    if (lastSend && this.#received >= iterations && completion.status === WcStatus.RETRY_EXC_ERR) {
      return 'The peer left before its last acknowledgement came through; all its messages had arrived.';
    }
    throw new ToolError(
      `Failed status ${wcStatusStr(completion.status)} (${completion.status}) for wr_id ${completion.wrId}: ` +
        this.#context.explain(completion),
    );
  }

  /** Where packets were lost, our last ACK may be too: stay a while, so that the peer's repetition gets its answer. */
  #linger(): void {
    const counters = this.#context.counters();
    const signs = ['retransmitted_pkts', 'duplicate_request', 'out_of_seq_request'];
    if (signs.every((name) => (counters[name] ?? 0) === 0)) return;
    const until = performance.now() + LINGER_MS;
    while (performance.now() < until) this.#endpoint.cq.poll(1);
  }
}
