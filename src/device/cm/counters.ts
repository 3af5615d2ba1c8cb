import { CmAttribute } from '../wire/index.js';

type Tally = Map<CmAttribute, number>;

const FAMILIES = ['tx_msgs', 'tx_retries', 'rx_msgs', 'rx_duplicates'] as const;
type Family = (typeof FAMILIES)[number];

/** What the connection manager counts: the families of Linux's `cm_*` counters, and why messages were dropped. */
export class CmCounters {
  /** Datagrams that are no message of the connection manager. */
  rxMalformed = 0;
  /** Messages for no connection, not from the peer, or not expected in the connection's state. */
  rxDropped = 0;
  /** Requests that were dropped because a listener's backlog, or the table of identifiers, was full. */
  rxOverflow = 0;

  readonly #tallies: Readonly<Record<Family, Tally>> = {
    tx_msgs: new Map(),
    tx_retries: new Map(),
    rx_msgs: new Map(),
    rx_duplicates: new Map(),
  };

  add(family: Family, attribute: CmAttribute): void {
    const tally = this.#tallies[family];
    tally.set(attribute, (tally.get(attribute) ?? 0) + 1);
  }

  /** All counters under the names that tools print. */
  snapshot(): Record<string, number> {
    const result: Record<string, number> = {
      cm_rx_malformed: this.rxMalformed,
      cm_rx_dropped: this.rxDropped,
      cm_rx_overflow: this.rxOverflow,
    };
    for (const family of FAMILIES)
      for (const [name, attribute] of Object.entries(CmAttribute))
        result[`cm_${family}_${name.toLowerCase()}`] = this.#tallies[family].get(attribute) ?? 0;
    return result;
  }
}
