/** What programs that are gone have left on the machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inboxDirectory } from '../../src/node/links/local/local-directory.js';
import { statisticsDirectory } from '../../src/node/statistics/index.js';
import { NET } from '../../test/support/loopback.js';

const ROCE_PORT = 4791;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Inboxes of our addresses, and files of our processes that are none yet. */
function inboxes(pids: ReadonlySet<number>): string[] {
  const directory = inboxDirectory();
  if (!('path' in directory)) return [];
  const net = Buffer.from(NET.split('.').map(Number)).toString('hex');
  const ours = new RegExp(`ffff${net}..$`);
  return namesIn(directory.path)
    .filter((name) => (name.startsWith('.') ? pids.has(Number(/\d+/.exec(name)?.[0])) : ours.test(name)))
    .map((name) => join(directory.path, name));
}

function statistics(pids: ReadonlySet<number>): string[] {
  const folder = statisticsDirectory();
  return namesIn(folder)
    .filter((name) => pids.has(Number(/^\.?(\d+)-/.exec(name)?.[1])))
    .map((name) => join(folder, name));
}

/** Sockets at our addresses. The kernel writes addresses as little-endian numbers. */
function sockets(): string[] {
  const net = Buffer.from(NET.split('.').map(Number).reverse()).toString('hex').toUpperCase();
  const ours = new RegExp(`^\\s*\\d+: ..${net}:${ROCE_PORT.toString(16).toUpperCase()} `);
  return readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .filter((line) => ours.test(line))
    .map((line) => `socket ${line.trim().split(/\s+/)[1]}`);
}

function processes(pids: ReadonlySet<number>): string[] {
  return [...pids].flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes('member.js') ? [`process ${pid}`] : [];
    } catch {
      return [];
    }
  });
}

export function leftovers(pids: ReadonlySet<number>): string[] {
  return [...processes(pids), ...sockets(), ...inboxes(pids), ...statistics(pids)];
}
