import type { Command } from 'commander';
import { addressOf } from '../../kit/addresses.js';
import { runTest, sayer, type StatusTest } from '../common/status.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { mckeyCommand, type MckeyFlags } from './flags.js';
import { Mckey, type MckeyResult, type MckeySetup } from './run.js';
import { isIP } from 'node:net';
import { gidFromIp, ipFromGid, type SocketAddress } from '../../../entry/index.js';

const FIRST_V4 = 224;
const LAST_V4 = 239;
const ADVICE = 'Groups are 224.0.0.0 to 239.255.255.255, and what begins with ff in IPv6';

function isGroup(host: string): boolean {
  if (host.includes(':')) return host.startsWith('ff');
  const first = Number(host.slice(0, host.indexOf('.')));
  return first >= FIRST_V4 && first <= LAST_V4;
}

/** The group that -m names, by IP address or by name. */
async function groupOf(node: string): Promise<SocketAddress> {
  const host = await addressOf(node);
  if (!isGroup(host)) throw new ToolError(`${node} is not a multicast group. ${ADVICE}.`);
  return { host };
}

/** The group that -M names, by GID: that of an IPv4 group is ::ffff:a.b.c.d (protocol/services.md 3.5). */
function groupOfGid(gid: string): SocketAddress {
  const host = isIP(gid) === 6 ? ipFromGid(gidFromIp(gid)) : '';
  if (!isGroup(host)) {
    const forms = 'that of 239.1.2.3 is ::ffff:239.1.2.3, and that of an IPv6 group is its address';
    throw new ToolError(`${gid} is not a multicast GID: ${forms}. The subnet has no manager that could assign one.`);
  }
  return { host };
}

async function setupOf(flags: MckeyFlags, say: (line: string) => void): Promise<MckeySetup> {
  const { m, M, b } = flags;
  const source = b === undefined ? undefined : { host: await addressOf(b) };
  const membership = {
    sends: flags.s === true,
    sendOnly: flags.o === true,
    loopback: flags.l !== true,
    // An empty message is none, as with the C tool.
    messages: flags.S === 0 ? 0 : flags.C,
    sizeBytes: flags.S,
  };
  return {
    ...membership,
    hosting: flags,
    group: M === undefined ? await groupOf(m ?? '') : groupOfGid(M),
    ...(source === undefined ? {} : { source }),
    portSpace: flags.p,
    unmapped: M !== undefined,
    connections: flags.c,
    pauseMs: flags.pause,
    say,
  };
}

function refuseNonsense({ m, M, b }: MckeyFlags): void {
  if (M !== undefined && b === undefined) {
    throw new ToolError('unmapped multicast address requires binding to source address: give -b.');
  }
  if (m === undefined && M === undefined) throw new ToolError('Which group? Give its address, such as -m 239.1.2.3.');
}

/** From the group's name to having left it. */
class MckeyTest implements StatusTest {
  readonly #flags: MckeyFlags;
  readonly #say: (line: string) => void;
  #mckey: Mckey | undefined;
  #result: MckeyResult | undefined;

  constructor(flags: MckeyFlags) {
    this.#flags = flags;
    this.#say = sayer(flags.json === true);
  }

  async run(): Promise<void> {
    this.#say(`mckey: starting ${this.#flags.s === true ? 'client' : 'server'}`);
    const mckey = new Mckey(await setupOf(this.#flags, this.#say));
    this.#mckey = mckey;
    endOnInterrupt(() => mckey.close());
    this.#result = await mckey.run();
  }

  close(): Promise<void> {
    this.#mckey?.close();
    return Promise.resolve();
  }

  facts(): object {
    return { ...this.#result };
  }
}

async function mckey(flags: MckeyFlags): Promise<void> {
  refuseNonsense(flags);
  await runTest(new MckeyTest(flags), flags);
}

export function command(): Command {
  return mckeyCommand().action(tool(mckey));
}
