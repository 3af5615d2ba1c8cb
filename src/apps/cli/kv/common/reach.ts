import { type Command, Option } from 'commander';
import { VerbsError } from '../../../../index.js';
import { connect, type KvClient, type KvConnectOptions, type TransportName } from '../../../../kv.js';
import { ToolError } from '../../shared/errors.js';
import { type HostingOptions, withHosting } from '../../shared/options.js';
import { inlineFirst, openFirst } from '../../shared/spinning.js';
import { streamDevice } from '../../shared/stream-device.js';
import { EXIT_FAILED } from './failure.js';
import { DEFAULT_HOST, DEFAULT_PORT, parseServer, type ServerPlace, serverText } from './server-place.js';

/** How a tool gets to its server. */
export interface ReachFlags extends HostingOptions {
  readonly server: ServerPlace;
  readonly transport: TransportName;
  readonly oneSided?: true;
}

/** The ways that requests travel, as `--transport` has them. */
export function transportOption(): Option {
  return new Option(
    '--transport <how>',
    'how requests and answers travel: rc, on a reliable connection; uc, as HERD has it, or ud: what is lost the client sends again',
  )
    .choices(['rc', 'uc', 'ud'] satisfies readonly TransportName[])
    .default('rc' satisfies TransportName);
}

/** Of clients that get values. */
export function oneSidedOption(): Option {
  return new Option(
    '--one-sided',
    'read values in the server’s memory, by RDMA READ, without its doing anything: one that was served with --one-sided',
  );
}

/** Adds the options of those who are clients. */
export function withServer(command: Command): Command {
  command
    .addOption(
      new Option('-s, --server <host:port>', 'where the store is served')
        .argParser(parseServer)
        .default({ host: DEFAULT_HOST, port: DEFAULT_PORT }, serverText({ host: DEFAULT_HOST, port: DEFAULT_PORT })),
    )
    .addOption(transportOption());
  return withHosting(command, 'the one that --server calls for, else VERBENA_ADDR, or a free loopback address');
}

/** For a tool that is done in a moment. @throws ToolError which says where nobody was */
export function reach(flags: ReachFlags, options: Partial<KvConnectOptions> = {}): Promise<KvClient> {
  // One that opens no thread begins sooner.
  return reachBy(inlineFirst(flags), options);
}

/** By the first device of these that this machine can have. @throws as {@link reach} */
export async function reachBy(
  candidates: readonly ReachFlags[],
  options: Partial<KvConnectOptions> = {},
): Promise<KvClient> {
  const { server, transport, oneSided } = candidates[0];
  try {
    return await openFirst(candidates, (asked) =>
      connect({ ...server, transport, oneSided, ...streamDevice(asked), ...options }),
    );
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    const hint = error.errno === 'ECONNREFUSED' ? '; `verbena kv serve` serves one' : '';
    const message = `no store at ${serverText(server)}${hint}: ${error.message}`;
    throw new ToolError(message, EXIT_FAILED, { cause: error });
  }
}
