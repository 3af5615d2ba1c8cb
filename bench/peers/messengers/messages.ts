import { connect, listen, type MessageConnection } from '../../../src/protocols/messages/index.js';
import type { Messenger, Talker } from './messenger.js';

function talkerOf(connection: MessageConnection): Talker {
  return {
    send: (message) => connection.send(message),
    receive: async () => {
      const message = await connection.receive();
      if (message === undefined) throw new Error('the peer has gone');
      return message.length;
    },
  };
}

export const messages: Messenger = {
  serve: (address, onTalker) => {
    const listener = listen({ host: address });
    void listener.serve(async (connection) => {
      onTalker(talkerOf(connection));
      await connection.closed;
    });
    return Promise.resolve(listener.address.port);
  },
  connect: async (address, port, from) => talkerOf(await connect({ host: address, port, localAddress: from })),
};
