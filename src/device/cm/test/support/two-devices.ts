import type { CmQp } from '../../index.js';
import { CmEventType } from '../../../ibta/index.js';
import { RawPeer, TestNetwork } from './network.js';
import { CmDevice, type CmDeviceOptions } from './cm-device.js';

export const PORT = 7471;

export interface TwoDevices {
  readonly network: TestNetwork;
  readonly a: CmDevice;
  /** Listens at {@link PORT}. */
  readonly b: CmDevice;
  readonly listenId: number;
}

/** Two devices; one listens. */
export function twoDevices(options: { readonly a?: CmDeviceOptions; readonly b?: CmDeviceOptions } = {}): TwoDevices {
  const network = new TestNetwork();
  const a = new CmDevice(network, 'a', '10.0.0.1', options.a);
  const b = new CmDevice(network, 'b', '10.0.0.2', options.b);
  return { network, a, b, listenId: b.listen(PORT) };
}

/** One device that listens, and a raw peer. */
export function deviceAndRawPeer(options: CmDeviceOptions = {}): {
  readonly network: TestNetwork;
  readonly b: CmDevice;
  readonly rawPeer: RawPeer;
  readonly listenId: number;
} {
  const network = new TestNetwork();
  const b = new CmDevice(network, 'b', '10.0.0.2', options);
  return { network, b, rawPeer: new RawPeer(network, '10.0.0.9'), listenId: b.listen(PORT) };
}

export interface End {
  readonly id: number;
  readonly qp: CmQp;
}

/** `a` requests a connection; the program of `b` has not answered. */
export function ask({ network, a, b }: TwoDevices): { readonly active: End; readonly childId: number } {
  const active = a.connect(b, PORT);
  network.settle();
  return { active, childId: b.takeOnly(CmEventType.CONNECT_REQUEST).id };
}

/** Connects the two, and takes the events of that. */
export function connected(of: TwoDevices): { readonly active: End; readonly passive: End } {
  const { network, a, b } = of;
  const { active, childId } = ask(of);
  const qp = b.accept(childId);
  network.settle();
  a.takeOnly(CmEventType.ESTABLISHED);
  b.takeOnly(CmEventType.ESTABLISHED);
  return { active, passive: { id: childId, qp } };
}
