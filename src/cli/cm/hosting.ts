import { type Command } from 'commander';
import { type CmId, CmOption, type Context, openDevice } from '../../index.js';
import { ToolError, attempt } from '../errors.js';
import { type HostingOptions, openOptions, withHosting } from '../options.js';
import { warn } from '../warnings.js';

/** Adds the options of the device to a tool that talks through the connection manager, and `--json`. */
export function withCmHosting(command: Command): Command {
  const addr = 'the one that the other addresses call for, else VERBENA_ADDR, or a free loopback address';
  return withHosting(command.option('--json', 'print one JSON object at the end'), addr);
}

/** Devices that are opened for an address give their warnings to Node, which would print them in its own way. */
function tellWarnings(): void {
  process.removeAllListeners('warning').on('warning', ({ message }) => warn(message));
}

/**
 * The devices that the command line asks for, as `createEventChannel` and `createId` take them: the one at --addr, or
 * none, which leaves the choice to the addresses that are bound and resolved.
 */
export function cmDevices(options: HostingOptions): { readonly contexts?: readonly Context[] } {
  if (options.addr !== undefined) {
    return { contexts: [attempt("Couldn't open the device", () => openDevice(openOptions(options)))] };
  }
  tellWarnings();
  // They take this from the environment.
  if (options.host !== undefined) process.env['VERBENA_HOST'] = options.host;
  return {};
}

/** The device that an identifier has, from when its address is resolved or bound to one. */
export function verbsOf(id: CmId): Context {
  if (id.verbs === undefined) throw new ToolError('The connection has no device; give one by --addr.');
  return id.verbs;
}

/** Gives a listener the address that the command line names; the wildcards are `0.0.0.0` and `::`. */
export function bindListener(id: CmId, host: string, port: number, { addr }: HostingOptions): void {
  const asked = addr ?? process.env['VERBENA_ADDR'] ?? '';
  // Both wildcards mean the one device that was asked for. Without one `::` would mean that of IPv4 loopback, and whoever
  // writes it wants IPv6.
  if (host === '::' && asked === '') id.setOption(CmOption.AFONLY, true);
  id.bindAddr({ host, port });
}
