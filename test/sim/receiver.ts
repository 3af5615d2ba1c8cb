import { type Gid, isIpv4Gid, WcStatus } from '../../src/device/ibta/index.js';
import { GRH_BYTES } from '../../src/device/wire/index.js';
import { statusName } from '../../src/device/nic/test/pair.js';
import type { Completion } from '../../src/device/nic/test/rings.js';
import type { Deliveries } from './deliveries.js';
import type { Endpoint } from './endpoint.js';
import { check } from './failure.js';
import { LossyTarget } from './lossy-target.js';
import type { Message } from './message.js';
import type { Operation } from './operation.js';
import type { Posted, ReceivePool } from './receive-pool.js';

function addressBytes(gid: Gid): Uint8Array {
  return isIpv4Gid(gid) ? gid.subarray(12) : gid;
}

/** What comes to one end: the messages of the peer, and on an unreliable connection its WRITEs. */
export class Receiver {
  received = 0;
  /** Messages that the peer posted. */
  posted = 0;
  #failed = false;
  readonly #target: LossyTarget | undefined;

  constructor(
    readonly end: Endpoint,
    /** The peer. */
    readonly from: Endpoint,
    private readonly deliveries: Deliveries,
    /** Whether packets come in the order in which they were sent. */
    private readonly inOrder: boolean,
  ) {
    if (!end.rules.reliable) this.#target = new LossyTarget(end.target.bytes);
  }

  /** The peer has posted a request. */
  expect({ change }: Operation, message: Message | undefined): void {
    if (change !== undefined) this.#target?.post(change, message !== undefined);
    if (message === undefined) return;
    this.posted += 1;
    this.deliveries.post(message);
  }

  /** Posts some receive requests. @returns whether it did */
  work(): boolean {
    return this.end.pools.map((pool) => pool.work()).includes(true);
  }

  take(completion: Completion): void {
    const { end } = this;
    const where = `receive on QP 0x${end.inbound.qpn.toString(16)}`;
    const pool = end.pools.find((candidate) => candidate.owns(completion.wrId));
    check(pool !== undefined, () => `${where}: completion ${String(completion.wrId)} of a request of another queue`);
    const posted = pool.complete(where, completion);
    if (completion.status === WcStatus.SUCCESS) this.#check(where, completion, pool, posted);
    else this.#fail(where, completion, pool, posted);
    posted.space.release(posted.stretch);
  }

  #check(where: string, completion: Completion, pool: ReceivePool, { space, stretch }: Posted): void {
    const { rules } = this.end;
    const { headerBytes } = rules;
    check(!this.#failed, () => `${where}: success after an error`);
    const message = this.deliveries.take(where, completion, (length) =>
      space.gather(stretch, headerBytes + length).subarray(headerBytes),
    );
    check(
      message.srqn === undefined || message.srqn === pool.srqn,
      () => `${where}: a request of SRQ ${String(pool.srqn)}, not of ${String(message.srqn)}, which was named`,
    );
    if (rules.datagrams) this.#checkOrigin(where, completion, space.gather(stretch, GRH_BYTES));
    // A message that lost its end leaves its beginning in the request that the next one fills.
    const length = rules.reliable || rules.datagrams ? headerBytes + message.payload.length : pool.to.bytes;
    space.expect(stretch, space.gather(stretch, length));
    if (message.change !== undefined && this.inOrder) this.#target?.arrived(message.change);
    message.arrived?.();
    this.received += 1;
  }

  /** The program posts no more receive requests. */
  stop(): void {
    for (const pool of this.end.pools) pool.close();
  }

  /** A datagram says who sent it: by the completion, and by the addresses before its payload (protocol/packets.md 1.6). */
  #checkOrigin(where: string, { srcQp }: Completion, header: Uint8Array): void {
    const { end, from } = this;
    check(srcQp === from.qp.qpn, () => `${where}: from QP 0x${srcQp.toString(16)}`);
    const addresses = Buffer.concat([from, end].map(({ memory }) => addressBytes(memory.host.gid)));
    const stated = header.subarray(GRH_BYTES - addresses.length);
    check(Buffer.compare(stated, addresses) === 0, () => `${where}: a header of other addresses`);
  }

  #fail(where: string, { status }: Completion, pool: ReceivePool, { space, stretch }: Posted): void {
    const { connection, rules } = this.end;
    check(connection.doomedUs !== Infinity, () => `${where}: ${statusName(status)} on a connection in good order`);
    check(
      status === WcStatus.WR_FLUSH_ERR || (!this.#failed && connection.doom === 'refusal'),
      () => `${where}: ${statusName(status)} where only a flush was to be expected`,
    );
    // Of a shared queue it has taken one at most, and the others are not its own.
    check(
      !this.#failed || !rules.shared || status !== WcStatus.WR_FLUSH_ERR,
      () => `${where}: more than one request of a shared receive queue is flushed`,
    );
    this.#failed = true;
    pool.close();
    // A message may have arrived in part.
    space.expect(stretch, space.gather(stretch, pool.to.bytes));
  }

  /** At the end of the run: what lies in memory is what was received, and nothing else changed. */
  checkMemory(perfect: boolean, dead: boolean): void {
    const { connection, pools, rules, inbound, memory } = this.end;
    const name = `QP 0x${inbound.qpn.toString(16)}`;
    const doomed = connection.doomedUs !== Infinity;
    // Each connection may have begun one, a reliable one that got through has not. A datagram is copied at once where that takes no time.
    const whole = rules.datagrams && !(dead && memory.host.hasForeignMemory);
    for (const pool of pools) {
      const begun = pool.connections.filter(({ doomedUs }) => !rules.reliable || doomedUs !== Infinity);
      pool.checkMemory(name, whole ? 0 : begun.length);
    }
    if (!doomed) this.deliveries.checkEnd();
    if (this.#target === undefined) return;
    if (perfect) this.#target.allArrived();
    const at = this.#target.firstWrong();
    check(at < 0, () => `target memory of ${name} is wrong at offset ${String(at)}`);
  }
}
