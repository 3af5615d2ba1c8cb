import { type AhAttr, isIpv4Gid } from '../spec/index.js';
import { createPath, type Path } from '../wire/index.js';
import { CommandError } from './command-error.js';
import type { Port } from './port.js';

/**
 * The path that an address vector names, for connected QPs and address handles alike.
 *
 * @throws CommandError EINVAL without a GRH, which RoCE cannot do without, for an empty GID index, or between IP versions
 *   (PROTOCOL.md 3.9)
 */
export function pathTo({ grh }: AhAttr, port: Port): Path {
  if (grh === undefined) throw new CommandError('EINVAL', 'the address has no GRH, and so no GID to go to');
  const sgid = grh.sgidIndex < port.gids.length ? port.gids[grh.sgidIndex] : undefined;
  if (sgid === undefined)
    throw new CommandError('EINVAL', `GID index ${grh.sgidIndex} is empty; the table has ${port.gids.length} entries`);
  if (isIpv4Gid(sgid) !== isIpv4Gid(grh.dgid))
    throw new CommandError(
      'EINVAL',
      'source and destination GID are of different IP versions; choose another GID index',
    );
  return createPath({
    sgid,
    dgid: Uint8Array.from(grh.dgid),
    trafficClass: grh.trafficClass,
    hopLimit: grh.hopLimit,
    flowLabel: grh.flowLabel,
  });
}
