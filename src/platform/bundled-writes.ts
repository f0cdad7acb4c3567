import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'

/**
 * From now on the connection sends what is written in one turn of the event loop as one packet. The statements of a
 * transaction would otherwise be sent one by one, and sending costs more of the processor than composing them. To be
 * called once it is connected: until then Node puts back `write`, and TLS may put another socket in place of the first.
 */
export function bundleWrites(client: PoolClient): void {
  const socket = socketOf(client)
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
      // One tick later than what others write at the end of this turn: the end of a group of statements.
      process.nextTick(() => process.nextTick(flush))
    }
    return write(...piece)
  }
  socket.write = bundle as Socket['write']
}

/** The types of `pg` do not name it. */
export const socketOf = (client: PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
