import type { AhAttr, GlobalRoute } from '../../../device/ibta/index.js';

/** An address as calls take it. What is absent: hop limit 64, port 1, SGID index 0, otherwise 0. */
export interface AhAttrInit extends Partial<Omit<AhAttr, 'grh'>> {
  /** RoCE cannot do without: it carries the peer's GID. */
  readonly grh?: Partial<Omit<GlobalRoute, 'dgid'>> & Pick<GlobalRoute, 'dgid'>;
}
