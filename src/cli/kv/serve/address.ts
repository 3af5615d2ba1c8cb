import type { ListenOptions } from '../../../entry/index.js';
import { DEFAULT_HOST } from '../common/server-place.js';

/** As --addr: whichever loopback address nobody has. */
export const FREE_ADDRESS = 'free';

/** Where to listen, when that is the value of --addr. */
export function hostFor(address: string | undefined): Pick<ListenOptions, 'host'> {
  if (address === FREE_ADDRESS) return {};
  return { host: address ?? DEFAULT_HOST };
}
