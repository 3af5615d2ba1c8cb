import type { Gid } from '../../ibta/index.js';
import { getU32 } from '../bytes.js';

/** A GID as a key of maps: quicker to make than a text for people. */
export function gidKey(gid: Gid): string {
  return `${getU32(gid, 0)} ${getU32(gid, 4)} ${getU32(gid, 8)} ${getU32(gid, 12)}`;
}
