import { ipFromGid, type QpAttr, type QpState, type QpType } from '../../../../device/ibta/index.js';
import { CommandError } from '../../../../device/nic/index.js';
import {
  type CompCntr,
  completeQpAttr,
  modifyInitProblem,
  modifyProblem,
  type QpAttachCompCntrAttr,
  type QpBase,
  type QpModifyAttr,
  refuse,
  Resource,
} from '../../../../api/verbs/index.js';
import { attachCompCntr } from '../completions/completion-counter.js';
import type { OpenDevice } from '../context-base.js';
import type { WorkRing } from './work-ring.js';

/** Q_Keys with this bit are for privileged users (protocol/packets.md 1.5). */
const CONTROLLED_QKEY = 0x80000000;

export class DeviceQp {
  /** Address of the peer that it was connected to last; null where the adapter knows of none either. */
  peer: string | null | undefined;

  constructor(
    readonly qpNum: number,
    readonly ring: WorkRing,
  ) {}
}

/** What queue pairs of all types have. */
export abstract class SoftQpBase extends Resource implements QpBase {
  readonly qpNum: number;
  abstract readonly qpType: QpType;
  protected readonly label: string;

  protected constructor(
    readonly context: OpenDevice,
    private readonly device: DeviceQp,
    readonly qpContext: unknown,
    uses: readonly Resource[],
  ) {
    super('ibv_destroy_qp', uses);
    const { qpNum } = device;
    this.qpNum = qpNum;
    this.label = `QP 0x${qpNum.toString(16)}`;
  }

  get state(): QpState {
    return this.device.ring.state;
  }

  /** Address of the peer, as explanations name it. */
  get peer(): string | undefined {
    // A connection manager connects queue pairs in the adapter, where the driver does not see it.
    if (this.device.peer === undefined) this.device.peer = this.#knownPeer() ?? null;
    return this.device.peer ?? undefined;
  }

  modify(init: QpModifyAttr): void {
    this.modifyAs(init, false);
  }

  /** @internal As {@link modify}; a privileged program may set a controlled Q_Key. */
  modifyAs(init: QpModifyAttr, isPrivileged: boolean): void {
    this.assertAlive('ibv_modify_qp');
    refuse('ibv_modify_qp', modifyInitProblem(init));
    const attr = completeQpAttr(init);
    refuse('ibv_modify_qp', modifyProblem(attr));
    if (!isPrivileged && attr.qkey !== undefined && attr.qkey >= CONTROLLED_QKEY) {
      const message = `Q_Key 0x${attr.qkey.toString(16)} is a controlled one: its top bit is set`;
      refuse('ibv_modify_qp', { errno: 'EPERM', message, advice: 'Choose one below 0x80000000' });
    }
    this.context.command('ibv_modify_qp', 'modifyQp', { qpn: this.qpNum, attr });
    if (attr.ahAttr?.grh !== undefined) this.device.peer = ipFromGid(attr.ahAttr.grh.dgid);
  }

  attachCompCntr(compCntr: CompCntr, attr: QpAttachCompCntrAttr): void {
    this.assertAlive('ibv_qp_attach_comp_cntr');
    attachCompCntr(this.context, this.qpNum, compCntr, attr);
  }

  abstract query(): { readonly attr: QpAttr };

  destroy(): void {
    this.end();
  }

  #knownPeer(): string | undefined {
    try {
      const dgid = this.context.adapter.execute('queryQp', this.qpNum).ahAttr.grh?.dgid;
      return dgid?.some((byte) => byte !== 0) === true ? ipFromGid(dgid) : undefined;
    } catch (error) {
      // A device that is lost answers no more; the failure is told without the address then.
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  }

  protected queryAttr(): QpAttr {
    this.assertAlive('ibv_query_qp');
    return this.context.command('ibv_query_qp', 'queryQp', this.qpNum);
  }
}
