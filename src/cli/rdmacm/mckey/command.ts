import { type Command } from 'commander';
import { addressOf } from '../common/addresses.js';
import { runTest, sayer, type StatusTest } from '../common/status.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { mckeyCommand, type MckeyFlags } from './flags.js';
import { groupOf, groupOfGid } from './group.js';
import { Mckey, type MckeyResult, type MckeySetup } from './run.js';

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
