import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import { Inbox, type Messenger, type Talker } from './messenger.js';

const SETTINGS = { perMessageDeflate: false };

function talkerOf(socket: WebSocket): Talker {
  const inbox = new Inbox();
  socket.on('message', (data: Buffer) => inbox.came(data.length));
  return {
    send: (message) =>
      new Promise<void>((resolve, reject) => socket.send(message, (error) => (error ? reject(error) : resolve()))),
    receive: () => inbox.next(),
  };
}

export const ws: Messenger = {
  serve: async (address, onTalker) => {
    const server = new WebSocketServer({ host: address, port: 0, backlog: 16_384, ...SETTINGS });
    server.on('connection', (socket) => onTalker(talkerOf(socket)));
    await once(server, 'listening');
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('the server has no port');
    return at.port;
  },
  connect: async (address, port) => {
    const socket = new WebSocket(`ws://${address}:${port}`, SETTINGS);
    await once(socket, 'open');
    return talkerOf(socket);
  },
};
