import { AccessFlags } from '../../../../device/ibta/index.js';
import { invalid, isAddress, isU32, type Mr, refuse, Resource, type Sge } from '../../../../api/verbs/index.js';
import type { OpenDevice, OwnPd } from '../context-base.js';

const NO_BYTES = new Uint8Array(0);

/** A region of memory that is not there. */
export class SoftNullMr extends Resource implements Mr {
  readonly context: OpenDevice;
  readonly addr = 0n;
  readonly iova = 0n;
  readonly length = 0;
  readonly lkey: number;
  readonly rkey: number;
  readonly access = AccessFlags.LOCAL_WRITE;
  readonly bytes = NO_BYTES;
  protected readonly label: string;

  readonly #handle: number;

  constructor(readonly pd: OwnPd) {
    const { context } = pd;
    const keys = context.command('ibv_alloc_null_mr', 'allocNullMr', pd.handle);
    super('ibv_dereg_mr', [pd]);
    this.context = context;
    this.#handle = keys.handle;
    this.lkey = keys.lkey;
    this.rkey = keys.rkey;
    this.label = `null MR 0x${keys.lkey.toString(16)}`;
  }

  /** A piece at any address and of any length, since every one is in it. */
  sge(offset = 0, length = 0): Sge {
    this.assertAlive('ibv_alloc_null_mr');
    if (!isAddress(offset) || !isU32(length))
      refuse(
        'ibv_alloc_null_mr',
        invalid(`${String(length)} bytes at offset ${String(offset)} are no piece`, 'A length is a number of 32 bits'),
      );
    return { addr: offset, length, lkey: this.lkey };
  }

  rereg(): never {
    this.assertAlive('ibv_rereg_mr');
    refuse('ibv_rereg_mr', invalid(`${this.label} cannot be changed`, 'There is nothing in it that could'));
    throw new Error('unreachable');
  }

  dereg(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
  }
}
