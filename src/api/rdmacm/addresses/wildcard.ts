import type { PortSpace } from '../../../device/ibta/index.js';
import { familyOf, plainAddress } from '../../../device/wire/index.js';
import { watchOpened } from '../../provider/index.js';
import { type Context, VerbsError } from '../../verbs/index.js';
import { choiceHere, type DeviceChoice, type Families } from './devices.js';

/** An identifier that is bound to a port of all devices. */
export interface WildcardHolder {
  readonly portSpace: PortSpace;
  readonly devices: DeviceChoice;
  readonly families: Families;
  readonly port: number;
  readonly isShared: boolean;
  /** The program has one more device, where the wildcard counts as well. */
  addDevice(context: Context): void;
}

export interface Wildcard {
  /** `0.0.0.0` or `::`. */
  readonly host: string;
  /** The versions of IP that it takes requests of. */
  readonly families: Families;
}

const ofProgram = new Set<WildcardHolder>();
const ofDevices = new WeakMap<Context, Set<WildcardHolder>>();
let isWatching = false;

/**
 * The wildcard that a host is, with the versions of IP that it stands for.
 *
 * @param host undefined where the program names none: then both versions
 * @param afOnly the option AFONLY; undefined where it was not set. As in Linux, `0.0.0.0` is for IPv4 only and `::` is for both
 *   unless the option says otherwise
 */
export function wildcardOf(host: string | undefined, afOnly: boolean | undefined): Wildcard {
  const family = host === undefined ? 4 : familyOf(host);
  const other = family === 4 ? 6 : 4;
  const isSingle = host !== undefined && (afOnly ?? family === 4);
  return { host: family === 4 ? '0.0.0.0' : '::', families: isSingle ? [family] : [family, other] };
}

function scopesOf({ devices }: WildcardHolder): readonly Set<WildcardHolder>[] {
  const { contexts } = choiceHere(devices);
  if (contexts === undefined) return [ofProgram];
  return contexts.map((context) => {
    let holders = ofDevices.get(context);
    if (holders === undefined) {
      holders = new Set();
      ofDevices.set(context, holders);
    }
    return holders;
  });
}

/** Whether two wildcards mean the same port: unless each is for one version of IP, and the versions differ. */
function overlap(a: Families, b: Families): boolean {
  return a.length > 1 || b.length > 1 || a[0] === b[0];
}

/**
 * Refuses a port that another wildcard has. A device refuses it as well, but there may be no device that both stand for.
 *
 * @throws VerbsError EADDRINUSE
 */
export function checkWildcards(call: string, holder: WildcardHolder): void {
  const { portSpace, port, isShared, families } = holder;
  for (const scope of scopesOf(holder))
    for (const other of scope) {
      if (other === holder || other.portSpace !== portSpace || other.port !== port) continue;
      if ((isShared && other.isShared) || !overlap(families, other.families)) continue;
      const message = `port ${port} is in use by another identifier that is bound to a wildcard`;
      throw new VerbsError(call, { errno: 'EADDRINUSE', message, advice: 'Choose another port, or 0 for any' });
    }
}

/**
 * Has a wildcard count for others, and for devices that are opened from now on.
 *
 * @returns has it count no longer
 */
export function enterWildcard(holder: WildcardHolder): () => void {
  const scopes = scopesOf(holder);
  for (const scope of scopes) scope.add(holder);
  if (!isWatching)
    watchOpened((context) => {
      for (const other of [...ofProgram])
        if (other.families.includes(familyOf(plainAddress(context.address)))) other.addDevice(context);
    });
  isWatching = true;
  return () => {
    for (const scope of scopes) scope.delete(holder);
  };
}
