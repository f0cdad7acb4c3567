import { subscribe } from 'node:diagnostics_channel'

/** Connections that have carried a request. */
const used = new WeakSet<object>()
/** Requests on a reused connection whose answers have not begun. */
const unanswered = new WeakSet<object>()
const unheard = new WeakSet<object>()

interface Told {
  readonly request: object
}

const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']

// Only undici knows which connection a request takes; it reports that on diagnostics channels.
subscribe('undici:client:sendHeaders', message => {
  const { request, socket } = message as Told & { socket: object }
  if (used.has(socket)) unanswered.add(request)
  used.add(socket)
})
subscribe('undici:request:headers', message => {
  unanswered.delete((message as Told).request)
})
subscribe('undici:request:error', message => {
  const { request, error } = message as Told & { error: NodeJS.ErrnoException }
  if (unanswered.has(request) && CLOSED.includes(error.code ?? '')) unheard.add(error)
})

/**
 * Whether a connection that was kept open broke before the answer began. As a rule the other side had closed it for its
 * idleness when the request was on its way, and has not heard of it.
 */
export const wasUnheard = (error: unknown): boolean => unheard.has(error as object)
