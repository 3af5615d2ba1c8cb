/** Connections that connection managers agreed upon: which two queue pairs belong together, and who ended it. */
import { CmAttribute } from '../../../device/wire/index.js';
import { type CmSighting, isCm, type Sightings } from './sightings.js';

interface End {
  readonly address: string;
  readonly qpn: number;
}

/** Two queue pairs that were connected, and the first message that ended that. */
export interface Agreement {
  readonly ends: readonly [End, End];
  /** When it was first asked for. */
  readonly fromUs: number;
  over: { readonly by: string; readonly timeUs: number } | undefined;
}

/** The name of a connection: the requester's communication ID, then the acceptor's. */
const pairName = (active: string, passive: string, activeId: number, passiveId: number): string =>
  `${active} ${passive} ${activeId} ${passiveId}`;

/** Every connection that was accepted, in the order in which they were asked for. */
export function agreementsOf({ cms }: Sightings): Agreement[] {
  const asked = new Map<string, End & { fromUs: number }>();
  const agreed = new Map<string, Agreement>();
  const said = [...cms].sort((a, b) => a.timeUs - b.timeUs);
  for (const sighting of said) {
    const { source, destination, timeUs } = sighting;
    if (isCm(sighting, CmAttribute.REQ)) {
      const { localCommId, localQpn } = sighting.cm;
      const name = `${source} ${destination} ${localCommId} ${localQpn}`;
      if (!asked.has(name)) {
        const end = { address: source, qpn: localQpn, fromUs: timeUs };
        asked.set(name, end);
        // The newest request with a communication ID is the one that is answered.
        asked.set(`${source} ${destination} ${localCommId}`, end);
      }
    } else if (isCm(sighting, CmAttribute.REP)) {
      const { localCommId, remoteCommId, localQpn } = sighting.cm;
      const active = asked.get(`${destination} ${source} ${remoteCommId}`);
      const name = pairName(destination, source, remoteCommId, localCommId);
      if (active !== undefined && !agreed.has(name))
        agreed.set(name, {
          ends: [active, { address: source, qpn: localQpn }],
          fromUs: active.fromUs,
          over: undefined,
        });
    } else end(sighting, agreed);
  }
  return [...agreed.values()].sort((a, b) => a.fromUs - b.fromUs);
}

function end(sighting: CmSighting, agreed: ReadonlyMap<string, Agreement>): void {
  if (!isCm(sighting, CmAttribute.DREQ)) return;
  const { cm, source, destination, timeUs } = sighting;
  const agreement =
    agreed.get(pairName(source, destination, cm.localCommId, cm.remoteCommId)) ??
    agreed.get(pairName(destination, source, cm.remoteCommId, cm.localCommId));
  if (agreement !== undefined) agreement.over ??= { by: source, timeUs };
}
