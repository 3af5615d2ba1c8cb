import type { AhAttr } from '../../../device/ibta/index.js';
import {
  type Ah,
  type AhAttrInit,
  ahInitProblem,
  ahProblem,
  completeAhAttr,
  refuse,
  Resource,
} from '../../../api/verbs/index.js';
import type { OpenDevice, OwnPd } from './context-base.js';
import { PORT_NUM } from './device-facts.js';

export class SoftAh extends Resource implements Ah {
  readonly context: OpenDevice;
  readonly attr: AhAttr;
  readonly handle: number;
  protected readonly label: string;

  constructor(
    readonly pd: OwnPd,
    init: AhAttrInit,
  ) {
    const { context } = pd;
    refuse('ibv_create_ah', ahInitProblem('attr', init));
    const attr = completeAhAttr(init);
    // Whether the GID table has an entry there is for the NIC to say, whose table may change at any time.
    refuse(
      'ibv_create_ah',
      ahProblem(attr, PORT_NUM, () => true),
    );
    const kept = withOwnGid(attr);
    const handle = context.command('ibv_create_ah', 'createAh', { pd: pd.handle, attr: kept });
    super('ibv_destroy_ah', [pd]);
    this.context = context;
    this.attr = kept;
    this.handle = handle;
    this.label = `AH ${handle}`;
  }

  destroy(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_ah', 'destroyAh', this.handle);
  }
}

/** The number by which the NIC knows an address handle, or -1 where it is not a living one of this context. */
export function addressHandleNumber(ah: Ah, context: OpenDevice): number {
  return ah instanceof SoftAh && ah.context === context && !ah.destroyed ? ah.handle : -1;
}

/** The same address with a GID that nobody else can write to. */
function withOwnGid(attr: AhAttr): AhAttr {
  return attr.grh === undefined ? attr : { ...attr, grh: { ...attr.grh, dgid: Uint8Array.from(attr.grh.dgid) } };
}
