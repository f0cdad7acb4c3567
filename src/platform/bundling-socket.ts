import { Socket } from 'node:net'

/**
 * A socket that sends what is written in one turn of the event loop as one packet. The statements of a transaction would
 * otherwise be sent one by one, and sending costs more of the processor than composing them.
 */
export function bundlingSocket(): Socket {
  const socket = new Socket()
  const write = socket.write.bind(socket)
  let isBundling = false
  const flush = (): void => {
    isBundling = false
    socket.uncork()
  }
  const bundle = (...piece: Parameters<typeof write>): boolean => {
    if (!isBundling) {
      isBundling = true
      socket.cork()
      process.nextTick(flush)
    }
    return write(...piece)
  }
  socket.write = bundle as Socket['write']
  return socket
}
