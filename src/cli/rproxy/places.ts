import { isIPv6 } from 'node:net';
import { InvalidArgumentError } from 'commander';

interface Port<Kind extends string> {
  readonly kind: Kind;
  readonly host?: string;
  readonly port: number;
}

export type RdmaPlace = Port<'rdma'>;

/** What Node's sockets reach. */
export type LocalPlace = Port<'tcp'> | { readonly kind: 'unix'; readonly path: string };

export type Place = RdmaPlace | LocalPlace;

const FORM = 'Give rdma:HOST:PORT, tcp:HOST:PORT or unix:PATH, with an IPv6 address as in tcp:[::1]:6379.';
const PLACE = /^(rdma|tcp):(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d+)$/i;
const MAX_PORT = 65_535;

/** Reads `tcp:6379`, `rdma:10.0.0.2:7471`, `tcp:[::1]:6379` or `unix:/run/redis.sock`. */
export function parsePlace(text: string): Place {
  if (text.startsWith('unix:') && text.length > 'unix:'.length)
    return { kind: 'unix', path: text.slice('unix:'.length) };
  const [whole, kind, bracketed, plain, digits] = (PLACE.exec(text) ?? []) as (string | undefined)[];
  if (whole === undefined || kind === undefined) throw new InvalidArgumentError(FORM);
  if (bracketed !== undefined && !isIPv6(bracketed))
    throw new InvalidArgumentError(`'${bracketed}' is no IPv6 address; only those stand in brackets.`);
  const port = Number(digits);
  if (port > MAX_PORT) throw new InvalidArgumentError(`Ports go up to ${MAX_PORT}.`);
  const host = bracketed ?? plain;
  const where = host === undefined ? { port } : { host, port };
  return kind.toLowerCase() === 'rdma' ? { kind: 'rdma', ...where } : { kind: 'tcp', ...where };
}

/** A place as {@link parsePlace} reads it. */
export function placeText(place: Place): string {
  if (place.kind === 'unix') return `unix:${place.path}`;
  const { kind, host, port } = place;
  if (host === undefined) return `${kind}:${port}`;
  return isIPv6(host) ? `${kind}:[${host}]:${port}` : `${kind}:${host}:${port}`;
}
