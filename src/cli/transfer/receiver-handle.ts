import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ToolError } from '../kit/errors.js';
import type { Answer, StartOrder } from './messages.js';

/** How long the news of a receiver's end may take after its connection broke. */
const BAD_NEWS_MS = 1000;
/** How long it may take to clear up; what has to wait for a disk, or for the reader of a pipe, may never end. */
const CLEARING_UP_MS = 2000;

function ending(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `with exit code ${code ?? 0}` : `by ${signal}`;
}

/** The receiver's process, as the sender sees it. */
export class ReceiverHandle {
  readonly #child: ChildProcess;
  /** Never resolves; rejects when the process ends before its work is done. */
  readonly failure: Promise<never>;
  #finished = false;
  #killed: Promise<void> | undefined;

  constructor() {
    // One capture shows every packet, and one address cannot be two NICs: both settings are the sender's.
    const { VERBENA_PCAP, VERBENA_ADDR, ...env } = process.env;
    this.#child = fork(fileURLToPath(new URL('./receiver-process.js', import.meta.url)), { env });
    this.failure = new Promise((_, reject) => {
      this.#child.once('error', (error) => reject(new ToolError(`The receiver did not start: ${error.message}`)));
      this.#child.on('message', (answer: Answer) => {
        if (answer.kind === 'failed') reject(new ToolError(`Receiver: ${answer.sentence}`));
      });
      this.#child.once('exit', (code, signal) => {
        if (this.#finished) return;
        reject(new ToolError(`The receiver ended ${ending(code, signal)} before everything had arrived.`));
      });
    });
    // A waiter sees the rejection; between two waits nobody does, and that is no error.
    this.failure.catch(() => {});
  }

  /** Makes the receiver open its NIC and listen; where it does comes back. */
  async start(order: StartOrder): Promise<{ readonly address: string; readonly port: number }> {
    // `failure` reports a receiver that is gone.
    this.#child.send(order, () => {});
    const answer = await this.#answer();
    if (answer.kind !== 'ready') throw new ToolError(`The receiver answered '${answer.kind}', not 'ready'.`);
    return answer;
  }

  /**
   * Does a part of the sender's work, as long as there is a receiver. When it fails because the receiver does, that is
   * what is told: the news of it may come later than the end of the connection.
   */
  async during<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.failure]);
    } catch (error) {
      const patience = new AbortController();
      const given = sleep(BAD_NEWS_MS, undefined, { signal: patience.signal }).then(() => {
        throw error;
      });
      try {
        return await Promise.race([given, this.failure]);
      } finally {
        given.catch(() => {});
        patience.abort();
      }
    }
  }

  /** Waits for the receiver's end; its counters come back. */
  async finish(): Promise<Record<string, number>> {
    const answer = await this.#answer();
    if (answer.kind !== 'finished') throw new ToolError(`The receiver answered '${answer.kind}', not 'finished'.`);
    this.#finished = true;
    this.#child.disconnect();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return answer.counters;
  }

  /** Ends the process before its work is done, and waits until it has cleared up. */
  kill(): Promise<void> {
    this.#finished = true;
    this.#killed ??= this.#killAndWait();
    return this.#killed;
  }

  async #killAndWait(): Promise<void> {
    const child = this.#child;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLEARING_UP_MS);
    await once(child, 'exit');
    clearTimeout(timer);
  }

  async #answer(): Promise<Answer> {
    // The child is this program, so what comes is an Answer.
    const [answer] = (await Promise.race([once(this.#child, 'message'), this.failure])) as [Answer];
    return answer;
  }
}
