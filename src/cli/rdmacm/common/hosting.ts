import type { Command } from 'commander';
import { type CmId, type Context, type EventChannelOptions, openDevice, VerbsError } from '../../../entry/index.js';
import { attempt, ToolError } from '../../kit/errors.js';
import { type HostingOptions, openOptions, withHosting } from '../../kit/options.js';

/** Ends a connection; of one that never was, or has ended on both sides, there is nothing to end. */
export function leave(id: CmId): void {
  try {
    id.disconnect();
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
  }
}

/** Adds the options of the device to a tool that talks through the connection manager, and `--json`. */
export function withCmHosting(command: Command): Command {
  const addr = 'the one that the other addresses call for, else VERBENA_ADDR, or a free loopback address';
  return withHosting(command.option('--json', 'print one JSON object at the end'), addr);
}

/**
 * The devices that the command line asks for, as `createEventChannel` and `createId` take them: the one at --addr, or
 * none, which leaves the choice to the addresses that are bound and resolved.
 */
export function cmDevices(options: HostingOptions): EventChannelOptions {
  const { address, ...open } = openOptions(options);
  if (address === undefined) return { open };
  return { contexts: [attempt("Couldn't open the device", () => openDevice({ ...open, address }))] };
}

/** The device that an identifier has, from when its address is resolved or bound to one. */
export function verbsOf(id: CmId): Context {
  if (id.verbs === undefined) throw new ToolError('The connection has no device; give one by --addr.');
  return id.verbs;
}
