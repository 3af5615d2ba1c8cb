import { type AhAttr, isIpv4Gid } from '../../ibta/index.js';
import { createPath, Ecn, gidKey, type Path } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import type { Port } from './port.js';

/** Beyond so many the cache is emptied; holders keep their path. */
const MAX_SHARED_PATHS = 4096;

/**
 * The path that an address vector names, with a mark for routers when packets answer to theirs (`ecn`), for connected QPs and address handles alike; all that go the same way share one,
 * so that thousands of them find it in the processor's cache.
 *
 * @throws CommandError EINVAL without a GRH, which RoCE cannot do without, for an empty GID index, or between IP versions
 *   (protocol/services.md 3.9)
 */
export function pathTo({ grh }: AhAttr, port: Port, ecn: Ecn = Ecn.NOT_ECT): Path {
  if (grh === undefined) throw new CommandError('EINVAL', 'the address has no GRH, and so no GID to go to');
  const sgid = grh.sgidIndex < port.gids.length ? port.gids[grh.sgidIndex] : undefined;
  if (sgid === undefined)
    throw new CommandError('EINVAL', `GID index ${grh.sgidIndex} is empty; the table has ${port.gids.length} entries`);
  if (isIpv4Gid(sgid) !== isIpv4Gid(grh.dgid))
    throw new CommandError(
      'EINVAL',
      'source and destination GID are of different IP versions; choose another GID index',
    );
  const { hopLimit, flowLabel } = grh;
  // What a program says in these two bits goes where the service answers no marks.
  const trafficClass = ecn === Ecn.NOT_ECT ? grh.trafficClass : (grh.trafficClass & ~Ecn.MASK) | ecn;
  const key = [gidKey(sgid), gidKey(grh.dgid), trafficClass, hopLimit, flowLabel].join();
  const known = port.paths.get(key);
  if (known !== undefined) return known;
  const path = createPath({ sgid, dgid: Uint8Array.from(grh.dgid), trafficClass, hopLimit, flowLabel });
  if (port.paths.size >= MAX_SHARED_PATHS) port.paths.clear();
  port.paths.set(key, path);
  return path;
}
