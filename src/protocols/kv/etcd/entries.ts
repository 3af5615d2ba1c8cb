import { type KvMember, MAX_MEMBERS, type NamedMember, nameProblem, placeProblem } from '../cluster/member.js';
import { type Answer, isObject, objectIn } from './etcd-client.js';

// What etcd has of servers: protocol/kv.md 6.11.

const ROOT = '/verbena/kv';

export interface EtcdKeys {
  /** All of them begin so. */
  readonly all: string;
  /** Of a server that is up: under its lease. */
  readonly server: (name: string) => string;
  /** Of a server whose keys stay, whether it is up or not: under no lease. */
  readonly home: (name: string) => string;
}

export function keysOf(cluster: string): EtcdKeys {
  const all = `${ROOT}/${cluster}/`;
  return { all, server: (name) => `${all}servers/${name}`, home: (name) => `${all}homes/${name}` };
}

/** Twice as many as there may be members, since each may have two. */
export const MOST_ENTRIES = 2 * MAX_MEMBERS;

/** A text or a key, as etcd's JSON has bytes. */
export function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** What follows all keys that begin with a text of ASCII. */
export function behind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

function textIn(base64: unknown): string | undefined {
  try {
    if (typeof base64 !== 'string') return undefined;
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export interface EtcdEntry {
  readonly key: string;
  readonly server: KvMember | undefined;
  /** That of the change that made it so. */
  readonly revision: string;
  readonly lease: string;
}

/** The entries in what `kv/range` answers. */
export function entriesIn(answer: Answer): readonly EtcdEntry[] {
  const { kvs } = answer;
  return Array.isArray(kvs) ? kvs.filter(isObject).map(entryIn) : [];
}

function entryIn({ key, value, mod_revision: revision, lease }: Answer): EtcdEntry {
  return {
    key: textIn(key) ?? '',
    server: serverIn(textIn(value) ?? ''),
    revision: typeof revision === 'string' ? revision : '0',
    lease: typeof lease === 'string' ? lease : '0',
  };
}

function serverIn(text: string): KvMember | undefined {
  const { host, port, epoch } = objectIn(text) ?? {};
  if (placeProblem({ host, port }) !== undefined || typeof host !== 'string' || typeof port !== 'number')
    return undefined;
  const isEpoch = typeof epoch === 'number' && Number.isInteger(epoch) && epoch >= 0 && epoch < 2 ** 32;
  return { host, port, epoch: isEpoch ? epoch : undefined };
}

export function serverText({ host, port, epoch }: KvMember): string {
  return JSON.stringify({ host, port, epoch });
}

/** The servers of a cluster, by their names, as many as clients can have; how many there are; and the keys of what is none. */
export function membersIn(
  entries: readonly EtcdEntry[],
  { all }: EtcdKeys,
): { readonly members: readonly NamedMember[]; readonly count: number; readonly foreign: readonly string[] } {
  const members = new Map<string, NamedMember>();
  const foreign: string[] = [];
  for (const { key, server } of entries) {
    const [kind, name, ...more] = key.slice(all.length).split('/');
    const isOurs = (kind === 'servers' || kind === 'homes') && more.length === 0 && nameProblem(name) === undefined;
    if (!isOurs || server === undefined) foreign.push(key);
    else if (kind === 'servers') members.set(name, { ...server, name, isUp: true });
    else if (!members.has(name)) members.set(name, { ...server, name, isUp: false });
  }
  const byName = [...members.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { members: byName.slice(0, MAX_MEMBERS), count: byName.length, foreign };
}
