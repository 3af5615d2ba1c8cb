import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.js';

/** Why tests with etcd cannot run here; false when they can. */
export const WITHOUT_ETCD: string | false =
  spawnSync('etcd', ['--version']).status === 0 ? false : 'there is no etcd here (package etcd-server)';

/** An etcd of a test's own, on ports that were free, with its data in a temporary folder. */
export class Etcd implements AsyncDisposable {
  readonly url: string;
  readonly #peerUrl: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'verbena-etcd-'));
  #child: ChildProcess | undefined;

  private constructor(port: number, peerPort: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#peerUrl = `http://127.0.0.1:${peerPort}`;
  }

  static async start(): Promise<Etcd> {
    const etcd = new Etcd(await freePort(), await freePort());
    await etcd.begin();
    return etcd;
  }

  /** After {@link kill}: with the same data, unless they are to be gone. */
  async begin(): Promise<void> {
    const [url, peer] = [this.url, this.#peerUrl];
    const places = ['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer];
    const alone = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`];
    this.#child = spawn('etcd', ['--data-dir', join(this.#folder, 'data'), ...places, ...alone], { stdio: 'ignore' });
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`etcd has ended with ${this.#child.exitCode}`);
      const isUp = await fetch(`${url}/health`).then(
        async (response) => (await response.text()).includes('true'),
        () => false,
      );
      if (isUp) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  forget(): void {
    rmSync(join(this.#folder, 'data'), { recursive: true, force: true });
  }

  /** @param text JSON, or whatever somebody has written there */
  async put(key: string, text: string): Promise<void> {
    await this.#post('kv/put', { key: btoa(key), value: btoa(text) });
  }

  async delete(key: string): Promise<void> {
    await this.#post('kv/deleterange', { key: btoa(key) });
  }

  /** Ends the lease of a key: the key goes with it. */
  async endLeaseOf(key: string): Promise<void> {
    const answer = JSON.parse(await this.#post('kv/range', { key: btoa(key) })) as {
      kvs?: readonly { lease: string }[];
    };
    for (const { lease } of answer.kvs ?? []) await this.#post('lease/revoke', { ID: lease });
  }

  async has(key: string): Promise<boolean> {
    const answer = await this.#post('kv/range', { key: btoa(key), count_only: true });
    return answer.includes('"count"');
  }

  async #post(path: string, body: object): Promise<string> {
    const response = await fetch(`${this.url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
    return response.text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
