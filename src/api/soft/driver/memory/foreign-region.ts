import type { ForeignMemory } from '../../../../device/nic/index.js';
import {
  type Address,
  type Mr,
  type MrChange,
  pieceOfRegionProblem,
  refuse,
  reregProblem,
  Resource,
  type Sge,
  unsupported,
} from '../../../verbs/index.js';
import type { OpenDevice } from '../context-base.js';
import { SUPPORTED_ACCESS } from '../device-facts.js';
import { domainOf, type OwnPd } from '../domains/pd-base.js';
import { Hold } from './hold.js';

const NO_BYTES = new Uint8Array(0);
const REREG = 'ibv_rereg_mr';

/** A region of foreign memory: the program of the driver has none of its bytes at hand. */
export class ForeignMr extends Resource implements Mr {
  readonly context: OpenDevice;
  readonly lkey: number;
  readonly rkey: number;
  readonly length: number;
  readonly bytes = NO_BYTES;
  access: number;
  iova: bigint;

  readonly #handle: number;
  #pd: OwnPd;
  #hold: Hold;

  constructor(pd: OwnPd, memory: ForeignMemory, access: number, iova: Address) {
    const { context } = pd;
    const keys = context.command('ibv_reg_mr', 'regMr', {
      pd: pd.handle,
      memory: { kind: 'foreign', memory },
      iova: BigInt(iova),
      access,
    });
    super('ibv_dereg_mr', [context]);
    this.context = context;
    this.lkey = keys.lkey;
    this.rkey = keys.rkey;
    this.length = memory.lengthBytes;
    this.access = access;
    this.iova = BigInt(iova);
    this.#handle = keys.handle;
    this.#pd = pd;
    this.#hold = new Hold(pd, () => this.label);
    this.abandoned = () => this.#hold.letGo();
  }

  get pd(): OwnPd {
    return this.#pd;
  }

  /** What it is named by: where it really lies, whoever registered it knows. */
  get addr(): bigint {
    return this.iova;
  }

  sge(offset = 0, length = this.length - offset): Sge {
    this.assertAlive('mr.sge');
    refuse('mr.sge', pieceOfRegionProblem(offset, length, this.length));
    return { addr: this.iova + BigInt(offset), length, lkey: this.lkey };
  }

  /** As `Mr.rereg`, but for its memory, which stays. */
  rereg(change: MrChange): void {
    this.assertAlive(REREG);
    refuse(REREG, reregProblem(change, SUPPORTED_ACCESS));
    if (change.memory !== undefined)
      refuse(REREG, unsupported(`${this.label} cannot get other memory`, 'Register that as a region of its own'));
    const { context } = this;
    const pd = change.pd === undefined ? this.#pd : domainOf(REREG, context, change.pd);
    const access = change.access ?? this.access;
    const iova = BigInt(change.iova ?? this.iova);
    context.command(REREG, 'reregMr', { handle: this.#handle, pd: pd.handle, access, iova });
    this.access = access;
    this.iova = iova;
    if (pd === this.#pd) return;
    this.#hold.letGo();
    this.#pd = pd;
    this.#hold = new Hold(pd, () => this.label);
  }

  dereg(): void {
    this.end();
  }

  protected get label(): string {
    return `MR 0x${this.lkey.toString(16)} of ${this.length} bytes elsewhere`;
  }

  protected release(): void {
    this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    this.#hold.letGo();
  }
}
