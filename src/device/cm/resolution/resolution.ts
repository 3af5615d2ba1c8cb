import { type AhAttr, CmEventType, Errno, type Gid, gidsEqual, SidrStatus } from '../../ibta/index.js';
import type { CmSidrRep, CmSidrReq } from '../../wire/index.js';
import { Retransmission } from '../connections/retransmission.js';
import { MAX_CM_RETRIES, RESPONSE_TIMEOUT, timeoutUs } from '../connections/timeouts.js';
import type { Conversation } from '../connections/connection-rules.js';
import type { CmCore } from '../core.js';

const NOTHING = new Uint8Array(0);

/** A request for the datagram queue pair behind a service ID (SIDR, protocol/connections.md 4.4). */
export class Resolution implements Conversation {
  readonly commId: number;
  #id: number | undefined;
  readonly #retransmission: Retransmission;

  constructor(
    private readonly core: CmCore,
    private readonly identifier: { readonly id: number; qkey: number | undefined },
    private readonly to: AhAttr,
    private readonly peer: Gid,
  ) {
    this.#id = identifier.id;
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
    const { core, identifier } = this;
    if (status !== SidrStatus.SUCCESS) core.raise({ type: CmEventType.UNREACHABLE, id, status, privateData });
    // Datagrams to a queue pair of another Q_Key do not reach it, nor its own this one (protocol/connections.md 4.6).
    else if (qkey === 0 || (identifier.qkey ?? qkey) !== qkey)
      core.raise({ type: CmEventType.ADDR_ERROR, id, status: -Errno.EINVAL, privateData: NOTHING });
    else {
      identifier.qkey = qkey;
      core.raise({ type: CmEventType.ESTABLISHED, id, status: 0, privateData, ud: { qpNum: qpn, qkey } });
    }
  }

  onGone(): void {
    this.#retransmission.lookAgain();
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
