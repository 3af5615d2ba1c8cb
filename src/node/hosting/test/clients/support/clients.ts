/** Several clients of one NIC, and somebody elsewhere with whom they talk. */
import { SimulatedHost } from '../../../../../sim/cluster/simulated-host.js';
import { SoftContext } from '../../../../../providers/soft/driver/context.js';
import type { Argument, Value, Verb } from '../../../../../device/adapter/command.js';
import { type Context, openDevice } from '../../../../../entry/index.js';
import { SimulatedCluster } from '../../../../../entry/sim.js';
import { connect, type PairOptions, type Side } from '../../../../../providers/soft/test/support/pair.js';

export interface Trio {
  readonly cluster: SimulatedCluster;
  readonly first: Context;
  readonly second: Context;
  readonly elsewhere: Context;
}

export function another(context: Context): Context {
  return openDevice({ device: context.share() });
}

export function openTrio(options: Partial<ConstructorParameters<typeof SimulatedCluster>[0]> = {}): Trio {
  const cluster = new SimulatedCluster({ seed: 1, ...options });
  const first = cluster.open('10.0.0.1');
  return { cluster, first, second: another(first), elsewhere: cluster.open('10.0.0.2') };
}

/** Connects the queue pairs of two sides. */
export function join(a: Side, b: Side, options: PairOptions = {}): void {
  connect(a.qp, { qpNum: b.qp.qpNum, dgid: b.context.queryGid(1, 0) }, options);
  connect(b.qp, { qpNum: a.qp.qpNum, dgid: a.context.queryGid(1, 0) }, options);
}

export function hostOf(context: Context): SimulatedHost {
  if (context instanceof SoftContext && context.adapter instanceof SimulatedHost) return context.adapter;
  throw new Error('not a device of a simulation');
}

/** Sends a command past the driver, which knows better than to name what is not its own. */
export function command<V extends Verb>(context: Context, verb: V, argument: Argument<V>): Value<V> {
  return hostOf(context).execute(verb, argument);
}
