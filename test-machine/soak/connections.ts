/** Which connections the two sides of a lane have, and who has not noticed yet that one has ended. */

/** Somebody is still in a connection that has ended for others. */
export interface Unaware {
  readonly connection: number;
  readonly member: string;
  readonly sinceMs: number;
  readonly why: string;
}

interface Known {
  readonly members: Map<string, number>;
  doom: { readonly atMs: number; readonly why: string } | undefined;
  goneAtMs: number;
}

/** Reports of both sides come within this time of each other. */
const REMEMBERED_MS = 60_000;

export class Connections {
  readonly #all = new Map<number, Known>();
  /** The longest time that a side took to notice. */
  longestMs = 0;

  up(member: string, connection: number, nowMs: number): void {
    const known = this.#all.get(connection) ?? { members: new Map<string, number>(), doom: undefined, goneAtMs: 0 };
    known.members.set(member, nowMs);
    this.#all.set(connection, known);
  }

  /**
   * A side says that it ended.
   *
   * @returns since when that side had it, and whether the other side had ended it before; undefined for one that nobody knows
   */
  down(member: string, connection: number, nowMs: number): { sinceMs: number; told: boolean } | undefined {
    const known = this.#all.get(connection);
    const sinceMs = known?.members.get(member);
    if (known === undefined || sinceMs === undefined) return undefined;
    const told = known.doom !== undefined;
    if (known.doom !== undefined) this.longestMs = Math.max(this.longestMs, nowMs - Math.max(known.doom.atMs, sinceMs));
    this.#leave(known, member, nowMs, 'the other side ended it');
    return { sinceMs, told };
  }

  /** A member is no more. */
  died(member: string, nowMs: number): void {
    for (const known of this.#all.values())
      if (known.members.has(member)) this.#leave(known, member, nowMs, 'the other side died');
  }

  /** A member does not answer for longer than anybody waits. */
  stopped(member: string, nowMs: number): void {
    for (const known of this.#all.values())
      if (known.members.has(member)) known.doom ??= { atMs: nowMs, why: `${member} was stopped` };
  }

  /** Who has not noticed. */
  *unaware(nowMs: number): Generator<Unaware> {
    for (const [connection, { members, doom, goneAtMs }] of this.#all) {
      if (members.size === 0 && nowMs - goneAtMs > REMEMBERED_MS) this.#all.delete(connection);
      if (doom === undefined) continue;
      for (const [member, upMs] of members)
        yield { connection, member, sinceMs: Math.max(doom.atMs, upMs), why: doom.why };
    }
  }

  forget(connection: number): void {
    this.#all.delete(connection);
  }

  #leave(known: Known, member: string, nowMs: number, why: string): void {
    known.members.delete(member);
    known.doom ??= { atMs: nowMs, why };
    known.goneAtMs = nowMs;
  }
}
