/** Connections that connection managers agreed upon: which two queue pairs belong together, and who ended it. */
import { CmAttribute, type CmMessage } from '../../../device/wire/index.js';
import type { Sighting } from './sighting.js';

interface End {
  readonly address: string;
  readonly qpn: number;
}

/** Two queue pairs that were connected, and the first message that ended that. */
export interface Agreement {
  readonly ends: readonly [End, End];
  readonly over: { readonly by: string; readonly order: number; readonly timeUs: number } | undefined;
}

interface Named extends Sighting {
  readonly cm: CmMessage;
}

const isNamed = (sighting: Sighting): sighting is Named => sighting.cm !== undefined && !sighting.damaged;

/** Every connection that was accepted. */
export function agreementsOf(sightings: readonly Sighting[]): Agreement[] {
  const said = sightings.filter(isNamed);
  const asked = new Map<string, End>();
  const agreed = new Map<string, readonly [End, End]>();
  for (const { cm, source, destination } of said) {
    if (cm.attribute === CmAttribute.REQ)
      asked.set(`${source} ${destination} ${cm.localCommId}`, { address: source, qpn: cm.localQpn });
    if (cm.attribute !== CmAttribute.REP) continue;
    const active = asked.get(`${destination} ${source} ${cm.remoteCommId}`);
    if (active !== undefined)
      agreed.set(`${source} ${destination} ${cm.localCommId} ${cm.remoteCommId}`, [
        active,
        { address: source, qpn: cm.localQpn },
      ]);
  }
  return [...agreed].map(([name, ends]) => {
    const [passive, active, passiveId, activeId] = name.split(' ');
    const dreq = said.find(
      ({ cm, source, destination }) =>
        cm.attribute === CmAttribute.DREQ &&
        ((source === passive &&
          destination === active &&
          `${cm.localCommId} ${cm.remoteCommId}` === `${passiveId} ${activeId}`) ||
          (source === active &&
            destination === passive &&
            `${cm.remoteCommId} ${cm.localCommId}` === `${passiveId} ${activeId}`)),
    );
    return { ends, over: dreq && { by: dreq.source, order: dreq.order, timeUs: dreq.timeUs } };
  });
}
