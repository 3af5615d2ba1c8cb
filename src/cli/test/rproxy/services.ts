/** Servers of Debian's packages, each with a folder, a port and an end of its own. */
import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { endWithTest } from '../../../../test/support/children.js';
import { freePort } from '../../../../test/support/ports.js';

const POSTGRES = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

export interface Service extends AsyncDisposable {
  readonly port: number;
}

/** Why tests of redis-server have to be left out, or false. */
export function withoutRedis(): string | false {
  const found = spawnSync('sh', ['-c', 'command -v redis-server']).status === 0;
  return found ? false : 'there is no redis-server here (Debian: redis-server)';
}

/** Why tests of PostgreSQL have to be left out, or false. */
export function withoutPostgres(): string | false {
  return postgresPrograms() === undefined ? 'there is no PostgreSQL here (Debian: postgresql)' : false;
}

function postgresPrograms(): string | undefined {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).map(Number).filter(Number.isFinite) : [];
  const folder = join(POSTGRES, String(Math.max(...versions)), 'bin');
  return existsSync(join(folder, 'initdb')) ? folder : undefined;
}

async function started(
  child: ChildProcessByStdio<null, Readable, Readable>,
  port: number,
  folder: string,
  ready: RegExp,
): Promise<Service> {
  const closed = once(child, 'close');
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const take = (text: string): void => {
      output += text;
      if (ready.test(output)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.once('error', reject);
    child.once('close', () => reject(new Error(`it did not start: ${output}`)));
  });
  const end = async (): Promise<void> => {
    child.kill('SIGINT');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, [Symbol.asyncDispose]: end };
}

export async function startRedis(): Promise<Service> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'verbena-redis-'));
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const child = endWithTest(spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'pipe'] }));
  return started(child, port, folder, /Ready to accept connections/);
}

/** A PostgreSQL with a user and a database called `verbena`, which asks for no password. */
export async function startPostgres(): Promise<Service> {
  const programs = postgresPrograms() ?? '';
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'verbena-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, 'data');
  const init = ['-D', data, '-A', 'trust', '-U', 'verbena', '--no-sync', '--no-instructions', '-E', 'UTF8'];
  execFileSync(join(programs, 'initdb'), init, { stdio: 'pipe', cwd: folder, ...who });
  const words = ['-D', data, '-k', folder, '-p', String(port), '-h', '127.0.0.1', '-F'];
  const child = endWithTest(
    spawn(join(programs, 'postgres'), words, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder, ...who }),
  );
  return started(child, port, folder, /database system is ready to accept connections/);
}
