/** What both ends of a connection have in common: completions, breaks, and a sign of life where nothing else is said. */
import {
  type Connection,
  PostError,
  SendFlags,
  type SendWr,
  VerbsError,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import type { Reporter } from './reporter.js';

/** Reliable connections end in these ways, and no other, when a peer is gone. */
const RIGHT: readonly WcStatus[] = [WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR];
/** Without anything of ours under way nobody would notice that the peer is gone. */
const KEEPALIVE_MS = 300;
const KEEPALIVE_ID = (1n << 64n) - 1n;

/** Milliseconds that two programs wait for each other before and after a connection. */
export const PATIENCE_MS = 3000;
/** `timeout` of queue pairs, and `retry_cnt`: eight times 134 ms, so that a dead peer shows in about a second. */
export const ACK_TIMEOUT = 15;
export const RETRIES = 7;

export abstract class Conversation {
  readonly #abort = new AbortController();
  readonly #keepalive: NodeJS.Timeout;
  #wake: (() => void) | undefined;
  #unanswered = 0;
  #reason: string | undefined;

  protected constructor(
    protected readonly connection: Connection,
    readonly id: number,
    protected readonly reporter: Reporter,
  ) {
    this.#keepalive = setInterval(() => this.#showLife(), KEEPALIVE_MS);
    void this.#take(
      (signal) => connection.nextSendComp(signal),
      (wc) => this.#onSent(wc),
    );
    void this.#take(
      (signal) => connection.nextRecvComp(signal),
      (wc) => this.onReceived(wc),
    );
    void connection.closed.then(() => this.break('disconnected'));
    reporter.tell({ report: 'up', connection: id });
    reporter.figures.connections += 1;
  }

  /** Why it has ended; undefined as long as it goes on. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get isBroken(): boolean {
    return this.#reason !== undefined;
  }

  /** The first to say why it ended is believed. */
  break(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearInterval(this.#keepalive);
    this.#abort.abort();
    this.reporter.tell({ report: 'down', connection: this.id, reason });
    this.progress();
  }

  /** Waits until something has happened. */
  protected async happening(): Promise<void> {
    if (this.isBroken) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  protected progress(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  protected abstract onSent(wc: WorkCompletion): void;
  protected abstract onReceived(wc: WorkCompletion): void;

  /** @returns false when the connection is no more */
  protected post(...requests: readonly SendWr[]): boolean {
    if (this.isBroken) return false;
    try {
      for (const request of requests) {
        this.connection.qp.postSend(request);
        this.#unanswered += 1;
      }
      return true;
    } catch (error) {
      this.refused(error);
      return false;
    }
  }

  protected repost(id: bigint, post: (id: bigint) => void): void {
    if (this.isBroken) return;
    try {
      post(id);
    } catch (error) {
      this.refused(error);
    }
  }

  protected refused(error: unknown): void {
    const isOver = error instanceof VerbsError && (!(error instanceof PostError) || error.errno === 'EINVAL');
    if (!isOver) this.reporter.violation(`a post was refused: ${String(error)}`);
    this.break(`post ${error instanceof VerbsError ? error.errno : 'failed'}`);
  }

  #onSent(wc: WorkCompletion): void {
    this.#unanswered -= 1;
    if (wc.wrId !== KEEPALIVE_ID) this.onSent(wc);
  }

  #showLife(): void {
    if (this.#unanswered > 0) return;
    const rdma = { remoteAddr: 0n, rkey: 0 };
    this.post({ opcode: WrOpcode.RDMA_WRITE, wrId: KEEPALIVE_ID, sendFlags: SendFlags.SIGNALED, sgList: [], rdma });
  }

  async #take(
    next: (signal: AbortSignal) => Promise<WorkCompletion>,
    use: (wc: WorkCompletion) => void,
  ): Promise<void> {
    const { signal } = this.#abort;
    try {
      while (!this.isBroken) {
        const wc = await next(signal);
        if (wc.status === WcStatus.SUCCESS) {
          use(wc);
          continue;
        }
        if (!RIGHT.includes(wc.status))
          this.reporter.violation(
            `request ${wc.wrId} ended with ${statusName(wc.status)}: ${explained(this.connection, wc)}`,
          );
        this.break(statusName(wc.status));
      }
    } catch (error) {
      if (signal.aborted) return;
      this.refused(error);
    }
  }
}

function statusName(status: WcStatus): string {
  return Object.entries(WcStatus).find(([, value]) => value === status)?.[0] ?? `status ${status}`;
}

function explained(connection: Connection, wc: WorkCompletion): string {
  return connection.qp.context.explain(wc);
}

/** What may go wrong with a connection while faults are about; otherwise undefined. */
export function harmless(error: unknown): string | undefined {
  const usual = [
    'ETIMEDOUT',
    'ECONNREFUSED',
    'ECONNRESET',
    'EHOSTUNREACH',
    'ENODEV',
    'EADDRNOTAVAIL',
    'ENETDOWN',
    'ENETUNREACH',
  ];
  if (!(error instanceof VerbsError) || !usual.includes(error.errno)) return undefined;
  return error.errno === 'ECONNREFUSED' ? error.message.replace(/^.*: /, '') : error.errno;
}
