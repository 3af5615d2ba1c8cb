import { invalid, show, VerbsError } from '../../api/verbs/index.js';
import { type Scheme, type Transport, transportOf, XioError } from './transport/index.js';

const MAX_URL = 1024;
const encoder = new TextEncoder();
const FORM = /^(?:([a-z]+):\/\/)?(\[[0-9a-fA-F:.%a-z]+\]|[^:/[\]\s]+):(\d{1,5})(?:\/(.*))?$/;

export interface Target {
  readonly transport: Transport;
  readonly host: string;
  readonly port: number;
  readonly resource: string;
}

/** Takes a URL apart: `rdma://host:port/resource`. @returns a sentence that says what is wrong with it */
export function parseUrl(url: unknown, leastPort: 0 | 1 = 1): Target | string {
  const advice = 'it is rdma://host:port/resource, or tcp://...';
  if (typeof url !== 'string' || encoder.encode(url).length > MAX_URL) return `url is ${show(url)}, and ${advice}`;
  const parts = FORM.exec(url);
  if (parts === null) return `url is ${show(url)}, and ${advice}`;
  const [, scheme = 'rdma', host, portText, resource = ''] = parts;
  const port = Number(portText);
  if (port < leastPort || port > 65_535) return `url has port ${portText}, and one is ${leastPort} to 65535`;
  const transport = transportOf(scheme);
  if (transport === undefined) return `nothing is known of ${scheme}://, and ${advice}`;
  return { transport, host: host.replace(/^\[|\]$/g, ''), port, resource };
}

/** The same for what a program has given. @param leastPort 0 where that means any that is free @throws VerbsError EINVAL */
export function targetOf(call: string, url: unknown, leastPort: 0 | 1 = 1): Target {
  const target = parseUrl(url, leastPort);
  if (typeof target === 'string') throw new VerbsError(call, invalid(target));
  return target;
}

/** The same for what a peer has given. @throws XioError XIO_E_ADDR_ERROR */
export function targetOfPeer(url: string): Target {
  const target = parseUrl(url);
  if (typeof target === 'string')
    throw new XioError('XIO_E_ADDR_ERROR', `the server sends the session on to nowhere: ${target}`);
  return target;
}

export function urlOf(scheme: Scheme, host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
