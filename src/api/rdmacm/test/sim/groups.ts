import { check } from '../../../../../test/sim/failure.js';
import type { Actor } from './actor.js';
import { type Heard, Member } from './member.js';

/** More than any way takes in calm. */
const WAY_US = 50_000;

export interface CallToAll extends Heard {
  readonly group: number;
  readonly atUs: number;
}

export class GroupCalls {
  readonly #calls = new Map<string, CallToAll>();

  add(call: CallToAll): void {
    this.#calls.set(keyOf(call), call);
  }

  /** Nobody hears what is sent to a group in which it is not, or was not when it last looked. */
  checkHearing(member: Member, heard: Heard): void {
    const call = this.#calls.get(keyOf(heard));
    check(call !== undefined, () => `${member.toString()} hears from ${heard.sender}, which said nothing to all`);
    const { lookedUs } = member.host;
    check(
      member.intervals.some(({ group, untilUs }) => group === call.group && untilUs >= lookedUs),
      () => `${member.toString()} hears ${keyOf(heard)}, though it is not in group ${call.group}`,
    );
  }

  /** Each member hears what is said while it is in the group, once; and nobody else does. */
  checkAll(actors: readonly Actor[], calm: boolean): void {
    for (const actor of actors) {
      if (actor instanceof Member) this.#checkMember(actor, calm);
      else
        check(
          actor.traffic?.received.some((heard) => this.#calls.has(keyOf(heard))) !== true,
          () => `${actor.toString()} hears what was said to a group`,
        );
    }
  }

  #checkMember(member: Member, calm: boolean): void {
    const times = new Map<string, number>();
    for (const heard of member.heard) times.set(keyOf(heard), (times.get(keyOf(heard)) ?? 0) + 1);
    for (const [key, call] of this.#calls) {
      const count = times.get(key) ?? 0;
      const isThere = member.intervals.some(
        ({ group, fromUs, untilUs }) => group === call.group && fromUs < call.atUs && untilUs > call.atUs + WAY_US,
      );
      check(
        count <= (calm ? 1 : 2) && (count > 0 || !calm || !isThere),
        () => `${member.toString()} hears ${key} ${count} times, sent at ${call.atUs} us to group ${call.group}`,
      );
    }
  }
}

function keyOf({ sender, sequence }: Heard): string {
  return `datagram ${sequence} of ${sender}`;
}
