import { invalid, isList, type Problem, show } from '../../../api/verbs/index.js';

/** One of several servers. */
export interface KvMember {
  /**
   * 1 to 100 visible characters of ASCII, without a slash: keys are divided by these names, so all clients need the same. Default: host and port, `10.0.0.1:7175`. A server that
   * moves to another address keeps its keys if it keeps its name.
   */
  readonly name?: string | undefined;
  /** A name or an address. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** Which life of the server that is, where it is known: clients of one before connect anew. */
  readonly epoch?: number | undefined;
  /** Whether it can be asked. One that cannot keeps its keys: calls about them fail at once. Default: it can. */
  readonly isUp?: boolean | undefined;
}

/** Who tells which servers there are. */
export interface KvMembership {
  /**
   * All servers there are, first as of now, then whenever that changes. What it throws before the first list is told to whoever connects; later clients go on with what
   * they know. A list that makes no sense, or of nobody, changes nothing.
   *
   * @param signal nobody wants to know any more
   */
  watch(signal: AbortSignal): AsyncIterable<readonly KvMember[]>;
}

export interface NamedMember extends KvMember {
  readonly name: string;
  readonly isUp: boolean;
}

/** Clients have a connection to each. */
export const MAX_MEMBERS = 1024;
/** What names and addresses are made of, those of other alphabets as well; nothing that moves the cursor of who reads it. */
const HOST = /^[^\p{C}\p{Z}]{1,255}$/u;
const NAME = /^[\x21-\x2e\x30-\x7e]{1,100}$/;

/** What is wrong with a name of a server; undefined when nothing is. */
export function nameProblem(name: unknown): Problem | undefined {
  if (typeof name === 'string' && NAME.test(name)) return undefined;
  return invalid(`name is ${show(name)}`, 'It is 1 to 100 visible characters of ASCII, without a slash');
}

/** What is wrong with where a server is; undefined when nothing is. */
export function placeProblem({ host, port }: { readonly host: unknown; readonly port: unknown }): Problem | undefined {
  if (typeof host !== 'string' || !HOST.test(host))
    return invalid(`host is ${show(host)}`, 'It is a name or an address');
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
    return invalid(`port is ${show(port)}`, 'It is a number from 1 to 65535');
  return undefined;
}

/** The members with their names; or what is wrong with them. */
export function namedMembers(members: readonly KvMember[]): readonly NamedMember[] | Problem {
  if (!isList(members) || members.length > MAX_MEMBERS)
    return invalid('members are none', `It is a list of up to ${MAX_MEMBERS} servers`);
  const byName = new Map<string, NamedMember>();
  for (const member of members) {
    if (!isObject(member)) return invalid(`a member is ${show(member)}`, 'It has host and port');
    const misplaced = placeProblem(member) ?? stateProblem(member);
    if (misplaced !== undefined) return misplaced;
    const { host, port, name = nameOf(member), isUp = true } = member;
    const problem = nameProblem(name);
    if (problem !== undefined) return problem;
    if (byName.has(name)) return invalid(`two members have the name ${name}`, 'Give each another one');
    byName.set(name, { ...member, host, port, name, isUp });
  }
  return [...byName.values()];
}

function isObject(member: unknown): boolean {
  return typeof member === 'object' && member !== null;
}

/** What is wrong with what is said of a server's state; undefined when nothing is. */
function stateProblem({ epoch, isUp }: { readonly epoch?: unknown; readonly isUp?: unknown }): Problem | undefined {
  if (epoch !== undefined && !(typeof epoch === 'number' && epoch >= 0 && epoch < 2 ** 32 && Number.isInteger(epoch)))
    return invalid(`epoch is ${show(epoch)}`, 'It is a number of 32 bits, that of KvServer');
  if (isUp !== undefined && typeof isUp !== 'boolean') return invalid(`isUp is ${show(isUp)}`, 'It is true or false');
  return undefined;
}

function nameOf({ host, port }: KvMember): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
