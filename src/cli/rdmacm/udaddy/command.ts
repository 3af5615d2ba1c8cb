import { type Command } from 'commander';
import { PortSpace } from '../../../entry/index.js';
import { messagesOf, nodeAddress, nodeFacts, ownAddress } from '../common/node-flags.js';
import { Nodes } from '../common/nodes.js';
import { runTest, sayer, type StatusTest } from '../common/status.js';
import { tool, ToolError } from '../../kit/errors.js';
import { DatagramNode, PORT, udaddyCommand, type UdaddyFlags } from './datagram-node.js';

function portSpaceOf({ p: asked, P: named }: UdaddyFlags): PortSpace {
  if (asked === undefined) return named;
  const found = [PortSpace.UDP, PortSpace.IPOIB].find((space) => space === asked);
  if (found === undefined) throw new ToolError(`-p ${asked} is not a port space of datagrams: give 0x111 or 0x2.`);
  return found;
}

/** A run of the tool, in the order of the C tool's steps. */
class Udaddy implements StatusTest {
  readonly #flags: UdaddyFlags;
  readonly #say: (text: string) => void;
  readonly #nodes: Nodes<DatagramNode>;

  constructor(flags: UdaddyFlags) {
    this.#flags = flags;
    this.#say = sayer(flags.json === true);
    this.#nodes = new Nodes({
      name: 'udaddy',
      portSpace: portSpaceOf(flags),
      connections: flags.c,
      hosting: flags,
      acceptingConnects: true,
      say: this.#say,
      makeNode: (id) => new DatagramNode(id, flags),
    });
  }

  async run(): Promise<void> {
    if (this.#flags.s === undefined) await this.#serve();
    else await this.#ask(this.#flags.s);
  }

  async #serve(): Promise<void> {
    const host = await ownAddress(this.#flags);
    this.#nodes.serve(host, PORT, 'udaddy: starting server');
    await this.#nodes.allConnected();
    if (messagesOf(this.#flags).count === 0) return;
    this.#say('receiving data transfers');
    for (const node of this.#nodes.nodes) await node.completed();
    this.#say('sending replies');
    for (const node of this.#nodes.nodes) node.send(true);
    for (const node of this.#nodes.nodes) await node.completed();
    this.#say('data transfers complete');
  }

  async #ask(server: string): Promise<void> {
    this.#say('udaddy: starting client');
    const source = await ownAddress(this.#flags);
    const destination = await nodeAddress(server, this.#flags);
    this.#say('udaddy: connecting');
    this.#nodes.resolve(destination, PORT, source);
    await this.#nodes.allConnected();
    if (messagesOf(this.#flags).count === 0) return;
    this.#say('initiating data transfers');
    for (const node of this.#nodes.nodes) node.send(false);
    this.#say('receiving data transfers');
    for (const node of this.#nodes.nodes) await node.completed();
    this.#say('data transfers complete');
  }

  facts(): object {
    return nodeFacts('udaddy', this.#flags);
  }

  async close(): Promise<void> {
    await this.#nodes.close();
  }
}

export function command(): Command {
  return udaddyCommand().action(tool((flags: UdaddyFlags) => runTest(new Udaddy(flags), flags)));
}
