import { SeededRandom } from '../../src/device/link/index.js';

/** How the programs of a walk are: most know what they do, so that connections live long, some do not. */
export interface Character {
  /** How often a request is posted without a look at whether it can go well now. */
  readonly haste: number;
  /** How often one that is posted so names a key, a range or a memory that is wrong. */
  readonly malice: number;
  /** How often attributes are given that do not go together, or patience that ends soon: times of the usual. */
  readonly slips: number;
  /** How often something is taken away that others use: times of the usual. */
  readonly upheaval: number;
  /** How many connections are mended at a time. */
  readonly mends: number;
  readonly datagrams: boolean;
  /** Whether hosts have addresses of IPv6. */
  readonly ipv6: boolean;
}

const CAREFUL = { haste: 0.02, malice: 0.25, slips: 0.05, upheaval: 0.2, mends: 4 };
const USUAL = { haste: 0.1, malice: 0.25, slips: 0.5, upheaval: 0.6, mends: 2 };
const WILD = { haste: 0.6, malice: 0.2, slips: 1, upheaval: 1.5, mends: 1 };

export function characterOf(seed: number): Character {
  const random = new SeededRandom(seed ^ 0x3a11ce);
  const kind = random.pick([CAREFUL, CAREFUL, CAREFUL, CAREFUL, USUAL, USUAL, USUAL, WILD, WILD]);
  return { ...kind, ipv6: random.chance(0.25), datagrams: random.chance(0.12) };
}
