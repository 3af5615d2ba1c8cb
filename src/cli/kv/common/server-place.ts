import { isIPv6 } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** Where servers are unless they are told otherwise. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7175;

export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

const FORM = 'Give HOST or HOST:PORT, with an IPv6 address as in [::1]:7175.';
const PLACE = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/;

/** Reads `10.0.0.1`, `10.0.0.1:7175`, `store.example`, `::1` or `[::1]:7175`. */
export function parseServer(text: string): ServerPlace {
  if (isIPv6(text)) return { host: text, port: DEFAULT_PORT };
  const [, bracketed, plain, digits] = (PLACE.exec(text) ?? []) as (string | undefined)[];
  const host = bracketed ?? plain;
  const port = Number(digits ?? DEFAULT_PORT);
  if (host === undefined || port < 1 || port > 65_535) throw new InvalidArgumentError(FORM);
  if (bracketed !== undefined && !isIPv6(bracketed))
    throw new InvalidArgumentError(`'${bracketed}' is no IPv6 address; only those stand in brackets.`);
  return { host, port };
}

/** Reads several, with commas between them. */
export function parseServers(text: string): readonly ServerPlace[] {
  return text.split(',').map(parseServer);
}

/** Where a store is served: at one place, at several, or where etcd says. */
export interface StorePlace {
  readonly server: readonly ServerPlace[];
  readonly etcd?: readonly string[] | undefined;
}

export function storeText({ server, etcd }: StorePlace): string {
  return etcd === undefined ? server.map(serverText).join(', ') : `the servers that etcd at ${etcd.join(', ')} has`;
}

/** A place as {@link parseServer} reads it. */
export function serverText({ host, port }: ServerPlace): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
