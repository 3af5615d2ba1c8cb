import { amount } from '../kit/output.js';

export interface Totals {
  readonly connections: number;
  /** Of them: which ended by a failure of either side. */
  readonly failed: number;
  /** Connections that were turned away, as many others were there. */
  readonly refused: number;
  readonly toRdmaBytes: number;
  readonly fromRdmaBytes: number;
}

/** What happens to a proxy, a line of `--json` each. */
export type ProxyEvent =
  | { readonly event: 'listening'; readonly at: string; readonly to: string }
  | { readonly event: 'open'; readonly id: number; readonly from: string }
  | {
      readonly event: 'close';
      readonly id: number;
      readonly toRdmaBytes: number;
      readonly fromRdmaBytes: number;
      readonly seconds: number;
      readonly error?: string;
    }
  | { readonly event: 'refused'; readonly from: string; readonly connections: number }
  | { readonly event: 'ending'; readonly connections: number; readonly withinSeconds: number }
  | ({ readonly event: 'end'; readonly seconds: number } & Totals);

export type Report = (event: ProxyEvent) => void;

/** Each as a line of JSON, on standard output. */
export const reportJson: Report = (event) => void process.stdout.write(`${JSON.stringify(event)}\n`);

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function textOf(event: ProxyEvent, verbose: boolean): string | undefined {
  switch (event.event) {
    case 'listening':
      return `listening at ${event.at}, to ${event.to}, until Ctrl-C`;
    case 'open':
      return verbose ? `${event.id}: from ${event.from}` : undefined;
    case 'close': {
      if (event.error === undefined && !verbose) return undefined;
      const moved = `${amount(event.toRdmaBytes)} to rdma, ${amount(event.fromRdmaBytes)} from rdma`;
      const how = event.error === undefined ? 'ended' : `failed: ${event.error}`;
      return `${event.id}: ${how} (${moved}, ${event.seconds.toFixed(2)} s)`;
    }
    case 'refused':
      return `a connection from ${event.from} was turned away: there are ${event.connections} (--max-connections)`;
    case 'ending':
      return event.connections === 0
        ? undefined
        : `ending: ${plural(event.connections, 'connection')} may go on for ${event.withinSeconds} s; Ctrl-C again ends at once`;
    case 'end': {
      const { connections, failed, refused, toRdmaBytes, fromRdmaBytes, seconds } = event;
      const counts = `${plural(connections, 'connection')}, ${failed} failed, ${refused} turned away`;
      return `${counts}; ${amount(toRdmaBytes)} to rdma, ${amount(fromRdmaBytes)} from rdma, in ${seconds.toFixed(1)} s`;
    }
  }
}

/** For people: where it listens and what it has done on standard output, all else on standard error. */
export function reportText(verbose: boolean): Report {
  return (event) => {
    const text = textOf(event, verbose);
    if (text === undefined) return;
    const stream = event.event === 'listening' || event.event === 'end' ? process.stdout : process.stderr;
    stream.write(`${text}\n`);
  };
}
