import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  xioAccept,
  xioBind,
  xioConnect,
  xioConnectionDestroy,
  xioContextCreate,
  xioContextDestroy,
  xioContextRunLoop,
  xioContextStopLoop,
  xioDisconnect,
  type XioMsg,
  xioReleaseResponse,
  xioSendRequest,
  xioSendResponse,
  xioSessionCreate,
  xioSessionDestroy,
  XioSessionEvent,
  xioSessionEventStr,
  xioStrerror,
  xioUnbind,
} from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';

const QUEUE_DEPTH = 8;
const MOST = 64;

/** A server that answers each request with its number, until its session is over. */
async function server(net: Net, lines: string[]): Promise<void> {
  const ctx = xioContextCreate({ context: net.server.context });
  const responses: XioMsg[] = Array.from({ length: QUEUE_DEPTH }, (_, i) => ({
    out: { header: `hello response ${i}` },
  }));
  const bound = await xioBind(
    ctx,
    {
      onNewSession: (session) => xioAccept(session),
      onMsg: (_, request) => {
        const response = responses.shift();
        assert.ok(response !== undefined, 'as many responses as the client has under way');
        response.request = request;
        xioSendResponse(response);
      },
      onMsgSendComplete: (_, response) => void responses.push(response),
      onSessionEvent: (session, { event, reason, conn }) => {
        lines.push(`server: session event: ${xioSessionEventStr(event)}. reason: ${xioStrerror(reason)}`);
        if (event === XioSessionEvent.XIO_SESSION_CONNECTION_TEARDOWN_EVENT && conn !== undefined)
          xioConnectionDestroy(conn);
        if (event !== XioSessionEvent.XIO_SESSION_TEARDOWN_EVENT) return;
        xioSessionDestroy(session);
        xioContextStopLoop(ctx);
      },
    },
    net.urlOf(net.server),
  );
  await xioContextRunLoop(ctx);
  xioUnbind(bound);
  xioContextDestroy(ctx);
}

/** A client that has so many requests under way until all have been sent. */
async function client(net: Net, lines: string[]): Promise<number> {
  const ctx = xioContextCreate({ context: net.client.context });
  let answered = 0;
  let sent = 0;
  const send = (request: XioMsg): void => {
    sent += 1;
    xioSendRequest(connection, request);
  };
  const session = xioSessionCreate({
    uri: net.urlOf(net.server),
    sesOps: {
      onMsg: (_, response) => {
        answered += 1;
        assert.match(new TextDecoder().decode(response.in?.header), /^hello response \d$/);
        xioReleaseResponse(response);
        if (sent < MOST) send(response);
        else if (answered === MOST) xioDisconnect(connection);
      },
      onSessionEvent: (of, { event, reason, conn }) => {
        lines.push(`client: session event: ${xioSessionEventStr(event)}. reason: ${xioStrerror(reason)}`);
        if (event === XioSessionEvent.XIO_SESSION_CONNECTION_TEARDOWN_EVENT && conn !== undefined)
          xioConnectionDestroy(conn);
        if (event !== XioSessionEvent.XIO_SESSION_TEARDOWN_EVENT) return;
        xioSessionDestroy(of);
        xioContextStopLoop(ctx);
      },
    },
  });
  const connection = xioConnect({ session, ctx });
  for (let i = 0; i < QUEUE_DEPTH; i += 1)
    send({ out: { header: `hello request ${i}`, dataIov: ['in several', ' pieces'] } });
  await xioContextRunLoop(ctx);
  xioContextDestroy(ctx);
  return answered;
}

describe('a hello world in the names of libxio.h', () => {
  for (const [name, play] of Object.entries(NETS))
    it(`runs to its end over ${name}`, () =>
      play(async (net) => {
        const lines: string[] = [];
        const served = server(net, lines);
        await net.sim.sleep(1000);
        const [answered] = await net.settled(Promise.all([client(net, lines), served]));
        assert.equal(answered, MOST);
        const of = (end: string): string[] => lines.filter((line) => line.startsWith(end));
        const event = (end: string, what: string, reason: string): string =>
          `${end}: session event: XIO_SESSION_${what}_EVENT. reason: ${reason}`;
        const ending = (end: string): string[] => [
          event(end, 'CONNECTION_ESTABLISHED', 'success'),
          event(end, 'CONNECTION_CLOSED', 'session closed'),
          event(end, 'CONNECTION_TEARDOWN', 'session closed'),
          event(end, 'TEARDOWN', 'session closed'),
        ];
        assert.deepEqual(of('client'), ending('client'));
        assert.deepEqual(of('server'), [event('server', 'NEW_CONNECTION', 'success'), ...ending('server')]);
      }));
});
