import type { Context } from '../../../entry/index.js';
import type { Control } from './control.js';
import type { Half } from './half.js';
import type { Plan } from './plan.js';
import { clientSide, loopbackSides, serverSide } from './sides.js';
import { uctClient, uctLoopback, uctServer } from './uct/sides.js';

/** Has the client connect, and the sides tell each other of their memory. */
export function serverHalf(context: Context, plan: Plan, control: Control): Promise<Half> {
  const { test } = plan;
  return test.api === 'UCT' ? uctServer(context, test, plan, control) : serverSide(context, { test, plan }, control);
}

export function clientHalf(context: Context, plan: Plan, control: Control): Promise<Half> {
  const { test } = plan;
  return test.api === 'UCT' ? uctClient(context, test, plan, control) : clientSide(context, { test, plan }, control);
}

/** Both sides in one process. */
export async function loopbackHalves(context: Context, plan: Plan): Promise<readonly [client: Half, server: Half]> {
  const { test } = plan;
  return test.api === 'UCT' ? await uctLoopback(context, test, plan) : loopbackSides(context, { test, plan });
}
