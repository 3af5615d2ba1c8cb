import { WcStatus } from '../../src/spec/index.js';
import type { SeededRandom } from '../../src/link/index.js';
import { statusName } from '../nic/pair.js';
import type { Completion } from '../nic/rings.js';
import type { Endpoint } from './endpoint.js';
import { check } from './failure.js';
import type { Message } from './message.js';
import type { Stretch } from './space.js';

/** wr_ids of receives lie above those of sends, whose upper half is random but for this bit. */
const FIRST_WR_ID = 1n << 63n;

interface Posted {
  readonly wrId: bigint;
  readonly stretch: Stretch;
}

/** The receive queue of one end, and what should come out of it: every message of the peer, once, in order. */
export class Receiver {
  /** Messages that the peer has posted and that have not been seen here. */
  readonly expected: Message[] = [];
  #posted: Posted[] = [];
  #nextWrId = FIRST_WR_ID;
  #failed = false;
  received = 0;

  constructor(
    readonly end: Endpoint,
    private readonly random: SeededRandom,
  ) {}

  /** Posts some receive requests. @returns whether it did */
  work(): boolean {
    const { end, random } = this;
    if (this.#failed) return false;
    let posted = 0;
    const wanted = random.between(0, end.maxRecvWr);
    while (posted < wanted && end.qp.rq.room > 0 && this.#posted.length < end.maxRecvWr) {
      const stretch = end.receives.take(random, end.messageLimit, end.maxRecvSge);
      if (stretch === undefined) break;
      const wrId = this.#nextWrId++;
      end.qp.postRecv({ wrId, sgList: end.receives.sges(stretch) });
      this.#posted.push({ wrId, stretch });
      posted += 1;
    }
    return posted > 0;
  }

  /** Whether a wr_id is of a receive. */
  owns(wrId: bigint): boolean {
    return wrId >= FIRST_WR_ID;
  }

  take(completion: Completion): void {
    const { end } = this;
    const where = `receive on QP 0x${end.qp.qpn.toString(16)}`;
    const posted = this.#posted.shift();
    check(posted !== undefined, () => `${where}: completion ${String(completion.wrId)} of nothing that was posted`);
    check(
      posted.wrId === completion.wrId,
      () => `${where}: completion ${String(completion.wrId)} instead of ${String(posted.wrId)}`,
    );
    if (completion.status === WcStatus.SUCCESS) this.#check(where, completion, posted);
    else this.#fail(where, completion, posted);
    end.receives.release(posted.stretch);
  }

  #check(where: string, completion: Completion, { stretch }: Posted): void {
    const { receives } = this.end;
    const message = this.expected.shift();
    check(!this.#failed, () => `${where}: success after an error`);
    check(message !== undefined, () => `${where}: a message that nobody sent, or one that came twice`);
    for (const field of ['opcode', 'byteLen', 'wcFlags'] as const)
      check(
        completion[field] === message[field],
        () => `${where}: ${field} is ${String(completion[field])}, not ${String(message[field])}`,
      );
    check(
      message.wcFlags === 0 || completion.immData === message.immData >>> 0,
      () => `${where}: immediate data ${String(completion.immData)}, not ${String(message.immData >>> 0)}`,
    );
    receives.expect(stretch, message.payload);
    check(
      Buffer.compare(receives.gather(stretch, message.payload.length), message.payload) === 0,
      () => `${where}: message ${String(this.received)} of ${String(message.byteLen)} bytes has wrong bytes`,
    );
    this.received += 1;
  }

  #fail(where: string, { status }: Completion, { stretch }: Posted): void {
    const { connection, receives, messageLimit } = this.end;
    check(connection.doomedUs !== Infinity, () => `${where}: ${statusName(status)} on a connection in good order`);
    check(
      status === WcStatus.WR_FLUSH_ERR || (!this.#failed && connection.doom === 'refusal'),
      () => `${where}: ${statusName(status)} where only a flush was to be expected`,
    );
    this.#failed = true;
    // A message may have arrived in part.
    receives.expect(stretch, receives.gather(stretch, messageLimit));
  }

  /** At the end of the run: what lies in the buffers is what was received, and nothing else changed. */
  checkMemory(): void {
    const { connection, receives, messageLimit } = this.end;
    if (connection.doomedUs !== Infinity)
      for (const { stretch } of this.#posted) receives.expect(stretch, receives.gather(stretch, messageLimit));
    const at = receives.firstDifference();
    check(at < 0, () => `receive memory of QP 0x${this.end.qp.qpn.toString(16)} was touched at offset ${String(at)}`);
    if (connection.doomedUs === Infinity)
      check(this.expected.length === 0, () => `${String(this.expected.length)} messages never came`);
  }
}
