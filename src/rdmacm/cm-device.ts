import type { CmCommandTable, CmEvent } from '../cm/command.js';
import type { Gid } from '../spec/index.js';
import { type Context, VerbsError } from '../verbs/index.js';

export type { CmCommandTable, CmQp, CmParameters, CmConnParam, CmUdParam, CmRequest } from '../cm/command.js';
export type DeviceEvent = CmEvent;
export type CmVerb = keyof CmCommandTable;
export type CmArgument<V extends CmVerb> = CmCommandTable[V][0];
export type CmValue<V extends CmVerb> = CmCommandTable[V][1];

/** The connection manager of a device. */
export interface CmDevice {
  execute<V extends CmVerb>(call: string, verb: V, argument: CmArgument<V>): CmValue<V>;
  takeEvents(): readonly CmEvent[];
  wait(timeoutUs: number): void;
  listen(listener: () => void): () => void;
  nowUs(): number;
  readonly gid: Gid;
}

export function cmDeviceOf(context: Context, call: string): CmDevice {
  const message = `the device at ${context.address} has no connection manager yet`;
  throw new VerbsError(call, { errno: 'ENOSYS', message, advice: '' });
}
