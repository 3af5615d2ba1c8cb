import { createHash } from 'node:crypto';
import { ToolError } from '../kit/errors.js';
import type { Endpoint } from './endpoint.js';
import { type Grant, Verdict } from './messages.js';
import type { Progress } from './progress.js';
import type { Source } from './source.js';
import { MIB } from '../kit/output.js';

/** Bytes of one RDMA WRITE. */
const CHUNK_BYTES = MIB;

/** Writes under way at once: enough that the NIC never waits for us, few enough that progress is smooth. */
const WINDOW = 16;

export interface SendResult {
  /** Time during which writes were under way; making, reading and hashing the data do not count. */
  readonly elapsedMs: number;
  /** SHA-256, which the receiver found to be the same. */
  readonly digest: string;
}

/**
 * The near side. The data goes in legs, each as long as the memory of both ends: the sender writes a leg and prepares
 * the next one, while the receiver takes the leg out of its memory and says when there is room again.
 */
export class Sender {
  readonly #end: Endpoint;
  readonly #remote: Grant;
  readonly #source: Source;
  readonly #progress: Progress;
  #arrived = 0;
  #elapsedMs = 0;

  constructor(end: Endpoint, remote: Grant, source: Source, progress: Progress) {
    this.#end = end;
    this.#remote = remote;
    this.#source = source;
    this.#progress = progress;
  }

  async run(): Promise<SendResult> {
    const { sizeBytes } = this.#source;
    const hash = createHash('sha256');
    const legBytes = this.#end.data.length;
    for (let start = 0; start < sizeBytes; start += legBytes) {
      const leg = this.#end.data.subarray(0, Math.min(legBytes, sizeBytes - start));
      this.#source.read(leg, start);
      hash.update(leg);
      if (start > 0) await this.#verdict(Verdict.GO_ON);
      await this.#writeLeg(leg.length);
    }
    if (sizeBytes > 0) await this.#verdict(Verdict.GO_ON);
    const digest = hash.digest();
    await this.#end.send(digest);
    await this.#verdict(Verdict.SAME_DIGEST);
    return { elapsedMs: this.#elapsedMs, digest: digest.toString('hex') };
  }

  async #writeLeg(legBytes: number): Promise<void> {
    const started = performance.now();
    let posted = 0;
    let done = 0;
    while (done < legBytes) {
      while (posted < legBytes && posted - done < WINDOW * CHUNK_BYTES) {
        const length = Math.min(CHUNK_BYTES, legBytes - posted);
        const last = posted + length === legBytes;
        this.#end.write(this.#remote, posted, length, last ? legBytes : undefined);
        posted += length;
      }
      done += await this.#end.written();
      this.#progress.update(this.#arrived + done);
    }
    this.#arrived += legBytes;
    this.#elapsedMs += performance.now() - started;
  }

  async #verdict(wanted: number): Promise<void> {
    const { message } = await this.#end.hear();
    if (message[0] === wanted) return;
    throw new ToolError('The SHA-256 of what arrived is not that of what was sent: the data was damaged on the way.');
  }
}
