import type { Arena } from './arena.js';
import type { Place } from './things.js';

/** Somebody to whom a piece of memory belonged for a time, to write to it. */
export interface Claimant {
  readonly tick: number;
  readonly closedTick: number;
}

interface Claim extends Place {
  readonly owner: Claimant;
}

/** Who may have written where, and when: what several wrote to at a time holds nobody's data for certain. */
export class Claims {
  readonly #claims = new Map<Arena, Claim[]>();

  add(place: Place, owner: Claimant): void {
    const known = this.#claims.get(place.arena);
    if (known === undefined) this.#claims.set(place.arena, [{ ...place, owner }]);
    else known.push({ ...place, owner });
  }

  contested(arena: Arena, at: number, sinceTick: number, except: Claimant): boolean {
    return (this.#claims.get(arena) ?? []).some(
      (claim) =>
        claim.owner !== except &&
        claim.owner.closedTick >= sinceTick &&
        at >= claim.at &&
        at < claim.at + claim.lengthBytes,
    );
  }
}
