import { invalid, isList, show, VerbsError } from '../../../api/verbs/index.js';
import { Callbacks, runtime } from '../../../api/runtime/index.js';
import { nameProblem } from '../cluster/member.js';

/** Where etcd is, and under which name servers are there. */
export interface EtcdOptions {
  /** etcd's client URL, `http://127.0.0.1:2379`, or those of several members of one etcd, which are tried in turn. etcd 3.4 or newer. */
  readonly endpoints: string | readonly string[];
  /** Servers of one name belong together: 1 to 100 visible characters of ASCII, without a slash. Default: `default`. */
  readonly cluster?: string | undefined;
  /** Is told what goes wrong and is tried again: that etcd cannot be reached, or has what is no server. Default: a warning of the process. */
  readonly onProblem?: ((problem: Error) => void) | undefined;
}

export const ETCD_FIELDS = { endpoints: true, cluster: true, onProblem: true } as const;

export interface EtcdSettings {
  /** At least one; without a slash at the end. */
  readonly endpoints: readonly string[];
  readonly cluster: string;
  readonly onProblem: (problem: Error) => void;
}

const MOST_ENDPOINTS = 32;

/** @throws VerbsError EINVAL for what makes no sense */
export function settingsOf(call: string, { endpoints, cluster = 'default', onProblem }: EtcdOptions): EtcdSettings {
  const problem = nameProblem(cluster);
  if (problem !== undefined) throw new VerbsError(call, { ...problem, message: `cluster is ${show(cluster)}` });
  if (onProblem !== undefined && typeof onProblem !== 'function')
    throw new VerbsError(call, invalid(`onProblem is ${show(onProblem)}`, 'It is a function'));
  const urls = isList(endpoints) ? endpoints : [endpoints];
  if (urls.length === 0 || urls.length > MOST_ENDPOINTS)
    throw new VerbsError(
      call,
      invalid('endpoints are none', `It is a URL of etcd, or up to ${MOST_ENDPOINTS} of them`),
    );
  return {
    endpoints: urls.map((url) => urlOf(call, url)),
    cluster,
    onProblem: onProblem === undefined ? warn : guarded(onProblem),
  };
}

function warn(error: unknown): void {
  runtime().warn(error instanceof Error ? error : String(error));
}

/** What a program throws when it is told is no reason to hear, or to say, nothing of servers any more. */
function guarded(onProblem: (problem: Error) => void): (problem: Error) => void {
  const callbacks = new Callbacks();
  return (problem) =>
    callbacks.call(() => {
      try {
        onProblem(problem);
      } catch (error) {
        warn(error);
      }
    });
}

const FORM = 'It is a URL such as http://127.0.0.1:2379';

function urlOf(call: string, text: unknown): string {
  const url = typeof text === 'string' ? parsed(text) : undefined;
  if (url === undefined) throw new VerbsError(call, invalid(`an endpoint is ${show(text)}`, FORM));
  const { protocol, username, password, search, hash, origin, pathname } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new VerbsError(call, invalid(`an endpoint is ${show(text)}`, FORM));
  // It would be left out without a word. A password is not repeated.
  if (username + password + search + hash !== '')
    throw new VerbsError(call, invalid('an endpoint has more than a scheme, a host, a port and a path', FORM));
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** `127.0.0.1:2379` is understood as well. */
function parsed(text: string): URL | undefined {
  try {
    return new URL(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  } catch {
    return undefined;
  }
}
