import type { AdviseMrAdvice, MwType } from '../../../../device/ibta/index.js';
import {
  accessProblem,
  adviseProblem,
  type Ah,
  type AhAttrInit,
  defaultIova,
  type DeviceMemory,
  DeviceMemoryBase,
  type FieldsOf,
  fieldsProblem,
  iovaProblem,
  type Mr,
  type Mw,
  mwTypeProblem,
  type Pd,
  type Problem,
  type Qp,
  type QpInitAttr,
  refuse,
  type RegistrableMemory,
  type RegMrOptions,
  type Sge,
  type Srq,
  type SrqInitAttr,
  type WorkCompletion,
} from '../../../../api/verbs/index.js';
import { SoftAh } from '../address-handle.js';
import { type OpenDevice, PdBase } from '../context-base.js';
import { PORT_NUM, SUPPORTED_ACCESS } from '../device-facts.js';
import { ForeignMr, onDevice } from '../memory/foreign-region.js';
import { SoftMr } from '../memory/memory-region.js';
import { SoftMw } from '../memory/memory-window.js';
import { SoftNullMr } from '../memory/null-region.js';
import { bytesOf } from '../memory/program-memory.js';
import { SoftQp } from '../posting/queue-pair.js';
import { SoftSrq } from '../posting/shared-receive-queue.js';

const REG_MR_FIELDS: FieldsOf<RegMrOptions> = { iova: true };

/** A protection domain, or another name for one: the maker of all that is in one. */
export class SoftPd extends PdBase implements Pd {
  static alloc(context: OpenDevice): SoftPd {
    const handle = context.command('ibv_alloc_pd', 'allocPd', undefined);
    return new SoftPd(context, handle, [context], `PD ${handle}`);
  }

  regMr(memory: RegistrableMemory | DeviceMemory, access = 0, options: RegMrOptions = {}): Mr {
    this.assertAlive('ibv_reg_mr');
    refuse('ibv_reg_mr', accessProblem(access, SUPPORTED_ACCESS) ?? fieldsProblem('options', options, REG_MR_FIELDS));
    if (memory instanceof DeviceMemoryBase) return this.#regDeviceMr(memory, access, options);
    return new SoftMr(this, bytesOf('ibv_reg_mr', memory), access, options);
  }

  allocNullMr(): Mr {
    this.assertAlive('ibv_alloc_null_mr');
    return new SoftNullMr(this);
  }

  allocMw(type: MwType): Mw {
    this.assertAlive('ibv_alloc_mw');
    refuse('ibv_alloc_mw', mwTypeProblem(type));
    return new SoftMw(this, type);
  }

  createQp(init: QpInitAttr): Qp {
    this.assertAlive('ibv_create_qp');
    return new SoftQp(this, init);
  }

  createSrq(init: SrqInitAttr): Srq {
    this.assertAlive('ibv_create_srq');
    return new SoftSrq(this, init);
  }

  createAh(attr: AhAttrInit): Ah {
    this.assertAlive('ibv_create_ah');
    return new SoftAh(this, attr);
  }

  createAhFromWc(wc: WorkCompletion, grh: Uint8Array, portNum = PORT_NUM): Ah {
    this.assertAlive('ibv_create_ah_from_wc');
    return new SoftAh(this, this.context.initAhFromWc(portNum, wc, grh));
  }

  adviseMr(advice: AdviseMrAdvice, flags: number, sgList: readonly Sge[]): void {
    const call = 'ibv_advise_mr';
    this.assertAlive(call);
    refuse(call, adviseProblem(advice, flags, sgList));
    for (const [index, piece] of sgList.entries()) refuse(call, this.#pieceProblem(piece, index));
  }

  dealloc(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_dealloc_pd', 'deallocPd', this.handle);
  }

  #regDeviceMr(memory: DeviceMemoryBase, access: number, { iova }: RegMrOptions): Mr {
    const named = iova ?? defaultIova(memory.address, access);
    refuse('ibv_reg_mr', iovaProblem(named, memory.address, memory.length, access));
    return new ForeignMr(this, onDevice('ibv_reg_mr', memory, access), access, named);
  }

  #pieceProblem({ lkey, addr, length }: Sge, index: number): Problem | undefined {
    const region = this.context.regions.get(lkey);
    const message =
      region?.pd.handle !== this.handle
        ? `sgList[${index}] has L_Key 0x${lkey.toString(16)}, which no memory region of this domain has`
        : region.named(addr, length) === undefined
          ? `sgList[${index}] names bytes that are not inside its region`
          : undefined;
    return message === undefined ? undefined : { errno: 'EFAULT', message, advice: '' };
  }
}
