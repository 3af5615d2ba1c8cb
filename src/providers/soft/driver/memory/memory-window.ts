import type { MwType } from '../../../../device/ibta/index.js';
import { type Mw, Resource } from '../../../../api/verbs/index.js';
import type { KnownMw, OpenDevice, OwnPd } from '../context-base.js';

export class SoftMw extends Resource implements Mw, KnownMw {
  readonly context: OpenDevice;
  /** A bind of a window of type 1 changes it. */
  rkey: number;
  protected readonly label: string;

  readonly #handle: number;
  /** Whether the adapter has let go of it though the program has not. */
  #forfeited = false;

  constructor(
    readonly pd: OwnPd,
    readonly type: MwType,
  ) {
    const { context } = pd;
    const { handle, rkey } = context.command('ibv_alloc_mw', 'allocMw', { pd: pd.handle, type });
    super('ibv_dealloc_mw', [pd]);
    this.context = context;
    this.#handle = handle;
    this.rkey = rkey;
    this.label = `MW 0x${rkey.toString(16)}`;
    context.windows.add(this);
    this.abandoned = () => void context.windows.delete(this);
  }

  dealloc(): void {
    this.end();
  }

  forfeit(): void {
    if (!this.#forfeited) this.context.endCommand('ibv_dealloc_mw', 'deallocMw', this.#handle);
    this.#forfeited = true;
  }

  protected release(): void {
    this.forfeit();
    this.context.windows.delete(this);
  }
}
