import type { CmQp } from '../../../src/device/cm/index.js';
import { CmEventType } from '../../../src/device/ibta/index.js';
import { Ghost, TestNetwork } from './network.js';
import { Station, type StationOptions } from './station.js';

/** The port that listeners of the tests have. */
export const PORT = 7471;

export interface Scene {
  readonly network: TestNetwork;
  /** Asks. */
  readonly a: Station;
  /** Listens at {@link PORT}. */
  readonly b: Station;
  readonly listenId: number;
}

/** Two devices; one listens. */
export function scene(options: { readonly a?: StationOptions; readonly b?: StationOptions } = {}): Scene {
  const network = new TestNetwork();
  const a = new Station(network, 'a', '10.0.0.1', options.a);
  const b = new Station(network, 'b', '10.0.0.2', options.b);
  return { network, a, b, listenId: b.listen(PORT) };
}

/** One device that listens, and a peer that is a test's own. */
export function hauntedScene(options: StationOptions = {}): {
  readonly network: TestNetwork;
  readonly b: Station;
  readonly ghost: Ghost;
  readonly listenId: number;
} {
  const network = new TestNetwork();
  const b = new Station(network, 'b', '10.0.0.2', options);
  return { network, b, ghost: new Ghost(network, '10.0.0.9'), listenId: b.listen(PORT) };
}

/** One end of a connection. */
export interface End {
  readonly id: number;
  readonly qp: CmQp;
}

/** Has `a` ask `b`, whose program has not answered. */
export function ask({ network, a, b }: Scene): { readonly active: End; readonly childId: number } {
  const active = a.connect(b, PORT);
  network.settle();
  return { active, childId: b.takeOnly(CmEventType.CONNECT_REQUEST).id };
}

/** Connects the two, and takes the events of that. */
export function connected(of: Scene): { readonly active: End; readonly passive: End } {
  const { network, a, b } = of;
  const { active, childId } = ask(of);
  const qp = b.accept(childId);
  network.settle();
  a.takeOnly(CmEventType.ESTABLISHED);
  b.takeOnly(CmEventType.ESTABLISHED);
  return { active, passive: { id: childId, qp } };
}
