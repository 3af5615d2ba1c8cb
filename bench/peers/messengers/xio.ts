import { connect, listen, type XioSession } from '../../../src/entry/xio.js';
import type { Messenger, Talker } from './messenger.js';

function talkerOf(session: XioSession): Talker {
  const messages = session.messages();
  return {
    send: (message) => session.send(message),
    receive: async () => {
      const { value: message } = await messages.next();
      if (message === undefined) throw new Error('the peer has gone');
      return message.body.length;
    },
  };
}

export const xio: Messenger = {
  serve: async (host, onTalker) => {
    const server = await listen({ host });
    const follow = async (): Promise<void> => {
      for await (const session of server) onTalker(talkerOf(session));
    };
    void follow();
    return server.address.port;
  },
  connect: async (host, port, localAddress) => talkerOf(await connect({ url: `rdma://${host}:${port}`, localAddress })),
};
