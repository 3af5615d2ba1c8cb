import { CompCntrType, isOneOf } from '../../../../device/ibta/index.js';
import { CompCntr as Layout } from '../../../../device/nic/index.js';
import { runtime } from '../../../../api/runtime/index.js';
import {
  type CompCntr,
  type CompCntrInitAttr,
  type FieldsOf,
  fieldsProblem,
  invalid,
  type QpAttachCompCntrAttr,
  refuse,
  Resource,
  show,
} from '../../../../api/verbs/index.js';
import type { OpenDevice } from '../context-base.js';

const CREATE = 'ibv_create_comp_cntr';
const ATTACH = 'ibv_qp_attach_comp_cntr';
const FIELDS: FieldsOf<CompCntrInitAttr> = { type: true };
const ATTACH_FIELDS: FieldsOf<QpAttachCompCntrAttr> = { opMask: true };
const MAX_VALUE = 2n ** 64n - 1n;

function checked(call: string, name: string, value: unknown): bigint {
  if (typeof value === 'bigint' && value >= 0n && value <= MAX_VALUE) return value;
  refuse(call, invalid(`${name} is ${show(value)}`, 'It is a bigint from 0 to 2^64 - 1'));
  throw new Error('unreachable');
}

/** A completion counter. The NIC adds to its memory, which is the program's to read. */
export class SoftCompCntr extends Resource implements CompCntr {
  readonly handle: number;
  readonly type: CompCntrType;
  readonly counts: BigUint64Array;
  readonly words: Int32Array;
  protected readonly label: string;

  constructor(
    readonly context: OpenDevice,
    init: CompCntrInitAttr,
  ) {
    refuse(CREATE, fieldsProblem('init', init, FIELDS));
    const { type = CompCntrType.WRS } = init;
    if (!isOneOf(CompCntrType, type)) refuse(CREATE, invalid(`type is ${show(type)}`, 'It is one of CompCntrType'));
    const memory = runtime().memory(Layout.BYTES);
    const handle = context.command(CREATE, 'createCompCntr', { type, memory });
    super('ibv_destroy_comp_cntr', [context]);
    this.handle = handle;
    this.type = type;
    this.counts = new BigUint64Array(memory);
    this.words = new Int32Array(memory);
    this.label = `completion counter ${handle}`;
  }

  read(): bigint {
    this.assertAlive('ibv_read_comp_cntr');
    return Atomics.load(this.counts, 0);
  }

  readErr(): bigint {
    this.assertAlive('ibv_read_err_comp_cntr');
    return Atomics.load(this.counts, 1);
  }

  set(value: bigint): void {
    this.assertAlive('ibv_set_comp_cntr');
    Atomics.store(this.counts, 0, checked('ibv_set_comp_cntr', 'value', value));
  }

  setErr(value: bigint): void {
    this.assertAlive('ibv_set_err_comp_cntr');
    Atomics.store(this.counts, 1, checked('ibv_set_err_comp_cntr', 'value', value));
  }

  inc(amount: bigint): void {
    this.assertAlive('ibv_inc_comp_cntr');
    Atomics.add(this.counts, 0, checked('ibv_inc_comp_cntr', 'amount', amount));
  }

  incErr(amount: bigint): void {
    this.assertAlive('ibv_inc_err_comp_cntr');
    Atomics.add(this.counts, 1, checked('ibv_inc_err_comp_cntr', 'amount', amount));
  }

  destroy(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_comp_cntr', 'destroyCompCntr', this.handle);
  }
}

/** Has a counter count what a queue pair does. @throws VerbsError as `QpBase.attachCompCntr` */
export function attachCompCntr(
  context: OpenDevice,
  qpNum: number,
  compCntr: CompCntr,
  attr: QpAttachCompCntrAttr,
): void {
  refuse(ATTACH, fieldsProblem('attr', attr, ATTACH_FIELDS));
  if (!(compCntr instanceof SoftCompCntr) || compCntr.context !== context || compCntr.destroyed)
    refuse(ATTACH, invalid('compCntr is not a counter of this device, or was ended', 'createCompCntr makes one'));
  else if (!Number.isInteger(attr.opMask) || attr.opMask <= 0)
    refuse(ATTACH, invalid(`opMask is ${show(attr.opMask)}`, 'It is bits of QpAttachCompCntrOp, one at least'));
  else context.command(ATTACH, 'attachCompCntr', { qpn: qpNum, handle: compCntr.handle, opMask: attr.opMask });
}
