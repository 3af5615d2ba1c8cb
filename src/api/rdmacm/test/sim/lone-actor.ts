import { createId, PortSpace } from '../../../../entry/index.js';
import { Actor } from './actor.js';
import type { Host } from './host.js';
import type { LoneActorPlan } from './plan.js';
import { strayNamed } from './strays.js';
import type { World } from './world.js';

/** Whoever has an identifier and no peer, and calls whatever there is to call. */
export class LoneActor extends Actor {
  readonly role = 'lone';

  constructor(
    world: World,
    host: Host,
    override readonly plan: LoneActorPlan,
    number: number,
  ) {
    super(world, host, createId(host.channel, PortSpace[plan.space]), plan.space, plan, number, 'idle');
  }

  begin(): void {
    const { first, port } = this.plan;
    for (const name of first) this.play(strayNamed(name), port);
  }

  protected react(): void {
    // Its next call is planned.
  }
}
