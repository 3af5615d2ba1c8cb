import { type Context, openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connect, drain, makeSide, pattern, type Side } from '../../../providers/soft/test/support/pair.js';

const BYTES = 3000;

/** A program that means well: a client of the same NIC, which exchanges messages with another. */
export class Bystander {
  readonly #here: Side;
  readonly #there: Side;
  #round = 0;

  constructor(nic: Context, elsewhere: Context) {
    this.#here = makeSide(openDevice({ device: nic.share() }));
    this.#there = makeSide(openDevice({ device: elsewhere.share() }));
    const [a, b] = [this.#here, this.#there];
    connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) });
    connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) });
  }

  /** @throws Error when a message does not come through as ever */
  live(): void {
    const [a, b] = this.#round % 2 === 0 ? [this.#here, this.#there] : [this.#there, this.#here];
    const content = pattern(BYTES, this.#round);
    this.#round += 1;
    a.mr.bytes.set(content);
    b.qp.postRecv({ sgList: [b.mr.sge(4096, BYTES)] });
    a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, BYTES)] });
    const statuses = [...drain(a.cq, 1), ...drain(b.cq, 1)].map(({ status }) => status);
    if (statuses.some((status) => status !== WcStatus.SUCCESS))
      throw new Error(`a bystander's message ended in ${statuses.join(', ')}`);
    if (Buffer.compare(b.mr.bytes.subarray(4096, 4096 + BYTES), content) !== 0)
      throw new Error("a bystander's message arrived damaged");
  }

  close(): void {
    for (const { context } of [this.#here, this.#there]) context.close();
  }
}
