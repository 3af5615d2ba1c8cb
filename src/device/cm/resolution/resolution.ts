import { type AhAttr, CmEventType, Errno, type Gid, gidsEqual, RDMA_UDP_QKEY, SidrStatus } from '../../ibta/index.js';
import type { CmSidrRep, CmSidrReq } from '../../wire/index.js';
import { Retransmission } from '../connections/retransmission.js';
import { MAX_CM_RETRIES, RESPONSE_TIMEOUT, timeoutUs } from '../connections/timeouts.js';
import type { Conversation } from '../conversation.js';
import type { CmCore } from '../core.js';

const NOTHING = new Uint8Array(0);

/** A request for the datagram queue pair behind a service ID (SIDR, protocol/connections.md 4.4). */
export class Resolution implements Conversation {
  readonly commId: number;
  #id: number | undefined;
  readonly #retransmission: Retransmission;

  constructor(
    private readonly core: CmCore,
    id: number,
    private readonly to: AhAttr,
    private readonly peer: Gid,
  ) {
    this.#id = id;
    this.#retransmission = new Retransmission(core.host, core.counters, () => this.#end(-Errno.ETIMEDOUT, false));
    this.commId = core.directory.add(this);
  }

  isPeer(gid: Gid): boolean {
    return gidsEqual(gid, this.peer);
  }

  ask(request: CmSidrReq): void {
    this.#retransmission.start(request, this.to, timeoutUs(RESPONSE_TIMEOUT), MAX_CM_RETRIES, {
      isVacant: () => this.core.host.isVacant?.(this.peer) === true,
      onAbsent: () => this.#end(SidrStatus.UNSUPPORTED, true),
    });
  }

  takeReply({ status, privateData, qpn, qkey }: CmSidrRep): void {
    const id = this.#id;
    this.abandon();
    if (id === undefined) return;
    const { core } = this;
    if (status !== SidrStatus.SUCCESS) core.raise({ type: CmEventType.UNREACHABLE, id, status, privateData });
    // A port space has one Q_Key; a queue pair with another cannot be reached (protocol/connections.md 4.6).
    else if (qkey !== RDMA_UDP_QKEY)
      core.raise({ type: CmEventType.ADDR_ERROR, id, status: -Errno.EINVAL, privateData: NOTHING });
    else core.raise({ type: CmEventType.ESTABLISHED, id, status: 0, privateData, ud: { qpNum: qpn, qkey } });
  }

  abandon(): void {
    if (this.#id === undefined) return;
    this.#id = undefined;
    this.#retransmission.release();
    this.core.directory.forget(this.commId);
  }

  #end(status: number, isAbsent: boolean): void {
    const id = this.#id;
    this.abandon();
    const absence = isAbsent ? { isAbsent } : {};
    if (id !== undefined)
      this.core.raise({ type: CmEventType.UNREACHABLE, id, status, privateData: NOTHING, ...absence });
  }
}
