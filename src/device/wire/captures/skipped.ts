/** Frames of a capture that are no RoCE packets, counted by reason. */
import { ROCE_PORT } from '../packets/bth.js';
import { LinkType, NotRoce, type RoceLocator } from '../ip/locate.js';

/** Names of link types that captures with RDMA come with and this reader does not follow. */
const LINK_TYPES: Readonly<Partial<Record<number, string>>> = {
  9: 'PPP',
  105: 'IEEE 802.11',
  127: 'radiotap',
  [LinkType.LINUX_SLL]: 'Linux cooked',
  147: 'USER0',
  192: 'PPI',
  197: 'ERF',
  247: 'InfiniBand',
  252: 'Wireshark upper PDU',
};
const PROTOCOLS: Readonly<Partial<Record<number, string>>> = { 1: 'ICMP', 2: 'IGMP', 6: 'TCP', 58: 'ICMPv6' };
const ETHERTYPES: Readonly<Partial<Record<number, string>>> = { 0x0806: 'ARP', 0x88cc: 'LLDP', 0x8808: 'PAUSE or PFC' };
/** Details that are told of a reason; the others count as `others`. */
const MOST_DETAILS = 4;

const named = (text: string, name: string | undefined): string => (name === undefined ? text : `${text} (${name})`);

/** `link type 197 (ERF)`. */
function detailOf(reason: NotRoce, detail: number): string {
  switch (reason) {
    case NotRoce.UNKNOWN_LINK_TYPE:
      return named(String(detail), LINK_TYPES[detail]);
    case NotRoce.NOT_UDP:
      return named(`protocol ${detail}`, PROTOCOLS[detail]);
    case NotRoce.NOT_IP:
      return named(`Ethertype 0x${detail.toString(16).padStart(4, '0')}`, ETHERTYPES[detail]);
    default:
      return `port ${detail}`;
  }
}

const WITH_DETAIL: ReadonlySet<NotRoce> = new Set([
  NotRoce.UNKNOWN_LINK_TYPE,
  NotRoce.NOT_UDP,
  NotRoce.NOT_IP,
  NotRoce.OTHER_PORT,
]);

/** A reason with its count. */
export interface SkippedReason {
  readonly reason: NotRoce;
  readonly frames: number;
  /** What the frames were, the most frequent first: `port 18515`. */
  readonly details: readonly { readonly what: string; readonly frames: number }[];
}

/** Counts skipped frames. */
export class SkippedFrames {
  readonly #counts = new Map<NotRoce, Map<number, number>>();
  /** Frames from UDP port 4791 to another one: a sender that swaps its ports for answers. */
  fromRocePort = 0;
  total = 0;

  /** Counts a frame that the locator has refused. */
  count(reason: NotRoce, { detail, sourcePort }: RoceLocator): void {
    this.total += 1;
    if (reason === NotRoce.OTHER_PORT && sourcePort === ROCE_PORT) this.fromRocePort += 1;
    let counts = this.#counts.get(reason);
    if (counts === undefined) this.#counts.set(reason, (counts = new Map<number, number>()));
    const key = WITH_DETAIL.has(reason) ? detail : -1;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  /** Every reason, the most frequent first. */
  reasons(): SkippedReason[] {
    return [...this.#counts]
      .map(([reason, counts]) => ({
        reason,
        frames: [...counts.values()].reduce((sum, n) => sum + n, 0),
        details: [...counts]
          .filter(([detail]) => detail >= 0)
          .sort(([, a], [, b]) => b - a)
          .map(([detail, frames]) => ({ what: detailOf(reason, detail), frames })),
      }))
      .sort((a, b) => b.frames - a.frames);
  }

  /** `17 other frames skipped (12 another UDP port: 12 port 4789; 5 not IP: 5 Ethertype 0x0806 (ARP))`. */
  toString(): string {
    const head = `${this.total} other frames skipped`;
    if (this.total === 0) return head;
    const words = this.reasons().map(({ reason, frames, details }) => {
      const shown = details.slice(0, MOST_DETAILS).map(({ what, frames: n }) => (n === frames ? what : `${n} ${what}`));
      if (details.length > MOST_DETAILS) shown.push('others');
      return `${frames} ${reason}${shown.length === 0 ? '' : `: ${shown.join(', ')}`}`;
    });
    if (this.fromRocePort > 0)
      words.push(`${this.fromRocePort} of them from UDP port ${ROCE_PORT}: a sender that swaps the ports`);
    return `${head} (${words.join('; ')})`;
  }
}
