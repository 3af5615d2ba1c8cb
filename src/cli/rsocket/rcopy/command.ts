import { Command } from 'commander';
import { addressOf } from '../../kit/addresses.js';
import { withCmHosting } from '../../rdmacm/common/hosting.js';
import { tool, ToolError } from '../../kit/errors.js';
import { type HostingOptions, streamDevice, numberOption } from '../../kit/options.js';
import { copy } from './client.js';
import { serve } from './server.js';

interface RcopyFlags extends HostingOptions {
  readonly p: number;
  readonly folder: string;
  readonly anywhere?: true;
  readonly json?: true;
}

const PORT = 7427;

/** `server`, `server:destination`, `[::1]:destination`. */
function parseTarget(text: string, source: string): { readonly server: string; readonly destination: string } {
  const bracketed = /^\[([^\]]+)\](?::(.*))?$/s.exec(text) as (string | undefined)[] | null;
  const colon = text.indexOf(':');
  const server = bracketed?.[1] ?? (colon < 0 ? text : text.slice(0, colon));
  const destination = bracketed === null ? (colon < 0 ? '' : text.slice(colon + 1)) : (bracketed[2] ?? '');
  if (server === '') throw new ToolError('Name the server: rcopy SOURCE SERVER[:DESTINATION].');
  return { server, destination: destination === '' ? source : destination };
}

async function rcopy(source: string | undefined, target: string | undefined, flags: RcopyFlags): Promise<void> {
  const { p: port, folder, json } = flags;
  const device = streamDevice(flags);
  const complain = (text: string): void => void process.stderr.write(`${text}\n`);
  const say = (text: string): void => void (json === true ? process.stderr : process.stdout).write(text);
  if (source === undefined) {
    const host = flags.addr;
    return serve({
      ...(host === undefined ? {} : { host }),
      port,
      device,
      folder,
      anywhere: flags.anywhere === true,
      say,
      complain,
    });
  }
  if (target === undefined) throw new ToolError('Name the server: rcopy SOURCE SERVER[:DESTINATION].');
  const { server, destination } = parseTarget(target, source);
  const { bytes, elapsedUs } = await copy({ source, destination, host: await addressOf(server), port, device, say });
  const gbPerSecond = (bytes * 8) / (1000 * elapsedUs);
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ tool: 'rcopy', source, destination, bytes, elapsedUs, gbPerSecond })}\n`
      : `${bytes} bytes in ${(elapsedUs / 1e6).toFixed(2)} seconds = ${gbPerSecond.toFixed(2)} Gb/sec\n`,
  );
}

export function command(): Command {
  const base = new Command('rcopy')
    .description(
      'Copy a file to another host over rsockets; without arguments be the server, until Ctrl-C.\n' +
        'Speaks with the C tool of the same name.',
    )
    .argument('[source]', 'the file')
    .argument(
      '[server:destination]',
      'name or address of the server, an IPv6 one in brackets, and what the file is called there (default: as here)',
    )
    .addOption(numberOption('-p <port_number>', 'port of the server', 1, 65_535, PORT))
    .option('--folder <folder>', 'server: where files go', '.')
    .option('--anywhere', 'server: clients may name files outside of it, too, as with the C tool');
  return withCmHosting(base)
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena rcopy --folder /tmp                      the server
  verbena rcopy film.mkv 127.0.0.1:copy.mkv        the client

The server takes files of everybody who reaches it: RDMA authenticates nobody.`,
    )
    .action(tool(rcopy));
}
