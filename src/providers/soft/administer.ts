import type { Gid } from '../../device/ibta/index.js';
import { type Context, invalid, listProblem, objectProblem, refuse, show } from '../../api/verbs/index.js';
import type { PortChange } from '../../device/adapter/index.js';
import { SoftContext } from './driver/context.js';

const CALL = 'administer';
const FIELDS: readonly string[] = ['linkUp', 'gids', 'pkeys', 'fatal'] satisfies (keyof PortChange)[];

/**
 * Does to the port of a device what a network's administrator does, or to the device what a failing board does, so that a
 * program can be seen to bear it. The asynchronous events of protocol/services.md 3.11 tell of it: PORT_ERR and PORT_ACTIVE,
 * GID_CHANGE, PKEY_CHANGE, DEVICE_FATAL. The call has no C twin.
 *
 * What was taken down stays down until `linkUp: true`, and a port whose address is gone until that is back, too. While the
 * port is down nothing passes, and requests end when their retries are used up. After DEVICE_FATAL all that was
 * posted ends in FATAL_ERR; objects can still be ended, and every other call gives EIO.
 *
 * @param context a device of this package, real or simulated
 * @param change what changes; what is absent stays
 * @throws VerbsError EINVAL for a context of another provider, a field that does not exist or is of another type, or a table
 *   that is too long or holds what is not a GID or P_Key; EIO after DEVICE_FATAL. Nothing has changed then
 */
export function administer(context: Context, change: PortChange): void {
  if (!(context instanceof SoftContext))
    refuse(CALL, invalid('that is not a context of a software NIC', 'Give one that openDevice or a cluster has made'));
  else context.command(CALL, 'administer', checked(change));
}

function checked(change: PortChange): PortChange {
  const shape = objectProblem('the change', change);
  if (shape !== undefined) refuse(CALL, shape);
  for (const field of Object.keys(change))
    if (!FIELDS.includes(field))
      refuse(CALL, invalid(`'${field}' is nothing that can change`, `${FIELDS.join(', ')} can`));
  const { linkUp, gids, pkeys, fatal } = change;
  for (const [name, flag] of Object.entries({ linkUp, fatal }))
    if (flag !== undefined && typeof flag !== 'boolean')
      refuse(CALL, invalid(`${name} is ${show(flag)}`, 'It is true or false'));
  for (const [name, table] of Object.entries({ gids, pkeys })) {
    const problem = table === undefined ? undefined : listProblem(name, table);
    if (problem !== undefined) refuse(CALL, problem);
  }
  const unlike = gids?.findIndex((gid) => gid !== undefined && !isGid(gid)) ?? -1;
  if (unlike >= 0) refuse(CALL, invalid(`gids[${unlike}] is not a GID of 16 bytes`, 'gidFromIp makes one'));
  // How long the table may be and which numbers are P_Keys, the NIC knows.
  const alien = pkeys?.findIndex((pkey) => typeof pkey !== 'number') ?? -1;
  if (alien >= 0) refuse(CALL, invalid(`pkeys[${alien}] is ${show(pkeys?.[alien])}`, 'A P_Key is a number of 16 bits'));
  return {
    ...(linkUp === undefined ? {} : { linkUp }),
    ...(gids === undefined ? {} : { gids: gids.map((gid) => (gid === undefined ? undefined : Uint8Array.from(gid))) }),
    ...(pkeys === undefined ? {} : { pkeys: [...pkeys] }),
    ...(fatal === true ? { fatal } : {}),
  };
}

function isGid(gid: unknown): gid is Gid {
  return gid instanceof Uint8Array && gid.length === 16;
}
