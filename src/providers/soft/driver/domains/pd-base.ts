import { invalid, type Pd, Resource, VerbsError } from '../../../../api/verbs/index.js';
import type { OpenDevice } from '../context-base.js';

/** A protection domain as what is made in it needs it. SoftPd makes that, and lies above it. */
export abstract class PdBase extends Resource {
  /**
   * @param handle by which the NIC knows it
   * @param uses what it cannot exist without
   */
  protected constructor(
    readonly context: OpenDevice,
    readonly handle: number,
    uses: readonly Resource[],
    protected readonly label: string,
  ) {
    super('ibv_dealloc_pd', uses);
  }
}

/** A protection domain, as its objects have it. */
export type OwnPd = PdBase & Pd;

/** The domain as one of ours. @throws VerbsError EINVAL when it is not a living one of the context */
export function domainOf(call: string, context: OpenDevice, pd: Pd): OwnPd {
  if (pd instanceof PdBase && pd.context === context && !pd.destroyed) return pd;
  throw new VerbsError(call, invalid('pd is not a live protection domain of this context', 'Make one by allocPd'));
}
