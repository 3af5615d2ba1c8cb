import { type Command } from 'commander';
import { messagesOf, nodeAddress, nodeFacts, ownAddress } from '../common/node-flags.js';
import { Nodes } from '../common/nodes.js';
import { runTest, sayer, type StatusTest } from '../common/status.js';
import { tool } from '../../kit/errors.js';
import { StreamNode, ucmatoseCommand, type UcmatoseFlags } from './stream-node.js';

/** A run of the tool, in the order of the C tool's steps. */
class Ucmatose implements StatusTest {
  readonly #flags: UcmatoseFlags;
  readonly #say: (text: string) => void;
  readonly #nodes: Nodes<StreamNode>;

  constructor(flags: UcmatoseFlags) {
    this.#flags = flags;
    this.#say = sayer(flags.json === true);
    this.#nodes = new Nodes({
      name: 'cmatose',
      portSpace: flags.P,
      connections: flags.c,
      hosting: flags,
      acceptingConnects: false,
      say: this.#say,
      makeNode: (id) => new StreamNode(id, flags),
    });
  }

  async run(): Promise<void> {
    if (this.#flags.s === undefined) await this.#serve();
    else await this.#ask(this.#flags.s);
  }

  async #serve(): Promise<void> {
    const host = await ownAddress(this.#flags);
    this.#nodes.serve(host, this.#flags.p, 'cmatose: starting server');
    await this.#nodes.allConnected();
    if (messagesOf(this.#flags).count > 0) {
      this.#say('initiating data transfers');
      for (const node of this.#nodes.nodes) node.send();
      this.#say('completing sends');
      for (const node of this.#nodes.nodes) await node.sent();
      this.#say('receiving data transfers');
      for (const node of this.#nodes.nodes) await node.received();
      this.#say('data transfers complete');
    }
    if (this.#flags.m === true) await this.#nodes.migrate();
    this.#say('cmatose: disconnecting');
    this.#nodes.disconnect();
    await this.#nodes.allDisconnected();
    this.#say('disconnected');
  }

  async #ask(server: string): Promise<void> {
    this.#say('cmatose: starting client');
    const source = await ownAddress(this.#flags);
    const destination = await nodeAddress(server, this.#flags);
    this.#say('cmatose: connecting');
    this.#nodes.resolve(destination, this.#flags.p, source);
    await this.#nodes.allConnected();
    if (messagesOf(this.#flags).count > 0) {
      this.#say('receiving data transfers');
      for (const node of this.#nodes.nodes) await node.received();
      this.#say('sending replies');
      for (const node of this.#nodes.nodes) node.send();
      this.#say('data transfers complete');
    }
    if (this.#flags.m === true) await this.#nodes.migrate();
    await this.#nodes.allDisconnected();
  }

  facts(): object {
    return nodeFacts('ucmatose', this.#flags);
  }

  async close(): Promise<void> {
    await this.#nodes.close();
  }
}

export function command(): Command {
  return ucmatoseCommand().action(tool((flags: UcmatoseFlags) => runTest(new Ucmatose(flags), flags)));
}
