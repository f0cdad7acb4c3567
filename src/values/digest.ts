import * as crypto from 'node:crypto'

type Data = string | Uint8Array
type Digest = (data: Data) => Buffer

/** One call is a third of the work of a `Hash` object. Older versions of Node do not have it. */
export const sha256: Digest =
  typeof crypto.hash === 'function'
    ? data => crypto.hash('sha256', data, 'buffer')
    : data => crypto.createHash('sha256').update(data).digest()
