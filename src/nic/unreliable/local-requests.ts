import { Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../spec/index.js';
import { BindWqe, Cqe, SendWqe } from '../layout.js';
import type { BindMw } from '../memory/memory-window.js';
import type { NicCore } from '../nic-core.js';
import type { QueuePair } from '../queue-pair.js';

/** What requests that never leave the NIC are called in their completions, by `WrOpcode`. */
export const localNames: readonly (readonly [WrOpcode, WcOpcode])[] = [
  [WrOpcode.BIND_MW, WcOpcode.BIND_MW],
  [WrOpcode.LOCAL_INV, WcOpcode.LOCAL_INV],
];

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Carries out the requests that change what keys open, in their turn and without a packet (PROTOCOL.md 2.7, 3.7). */
export class LocalRequests {
  /** Why the last one failed, with the numbers that belong to it. */
  syndrome: Syndrome = Syndrome.NONE;
  readonly detail = new Int32Array(Cqe.DETAIL_WORDS);
  readonly #bind: Writable<BindMw> = {
    rkey: 0,
    newRkey: 0,
    lkey: 0,
    addrHi: 0,
    addrLo: 0,
    lengthBytes: 0,
    access: 0,
  };

  constructor(
    private readonly qp: QueuePair,
    private readonly core: NicCore,
  ) {}

  /** How the request of that opcode at word `entry` of the send queue ends, or undefined when it is no such request. */
  execute(opcode: number, entry: number): WcStatus | undefined {
    switch (opcode) {
      case WrOpcode.BIND_MW:
        return this.#bindWindow(entry);
      case WrOpcode.LOCAL_INV:
        return this.#invalidate(entry);
      default:
        return undefined;
    }
  }

  #bindWindow(entry: number): WcStatus {
    const { qp, core } = this;
    const { words } = qp.sq;
    const bind = this.#bind;
    bind.rkey = words[entry + SendWqe.RKEY];
    bind.newRkey = words[entry + SendWqe.IMM_DATA];
    bind.lkey = words[entry + BindWqe.LKEY];
    bind.addrHi = words[entry + SendWqe.REMOTE_ADDR_HI];
    bind.addrLo = words[entry + SendWqe.REMOTE_ADDR_LO];
    bind.lengthBytes = (words[entry + BindWqe.LENGTH_HI] >>> 0) * 2 ** 32 + (words[entry + BindWqe.LENGTH_LO] >>> 0);
    bind.access = words[entry + BindWqe.ACCESS];
    const reason = core.memory.bind(bind, qp.pd, qp.qpn);
    if (reason === 0) return WcStatus.SUCCESS;
    const { detail } = this;
    this.syndrome = Syndrome.MW_BIND;
    detail[0] = bind.rkey;
    detail[1] = bind.lkey;
    detail[2] = bind.addrHi;
    detail[3] = bind.addrLo;
    detail[4] = bind.lengthBytes;
    detail[5] = reason;
    return WcStatus.MW_BIND_ERR;
  }

  #invalidate(entry: number): WcStatus {
    const { qp, core } = this;
    const rkey = qp.sq.words[entry + SendWqe.IMM_DATA];
    if (core.memory.invalidate(rkey, qp.pd, qp.qpn, true)) return WcStatus.SUCCESS;
    this.syndrome = Syndrome.LOCAL_INVALIDATE;
    this.detail.fill(0);
    this.detail[0] = rkey;
    return WcStatus.LOC_QP_OP_ERR;
  }
}
