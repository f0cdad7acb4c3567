import { randomUUID } from 'node:crypto'
import { MOST_VALUES } from '../http/json-limits.ts'

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
/** Shorter ones are parsed as fast as they are taken out. */
const LONG = 4_096

export interface Shortened {
  /** The JSON, with a short text in the place of each long one. */
  readonly rest: Buffer
  /** The bytes of each long text by what stands in its place, which nobody can guess. */
  readonly texts: ReadonlyMap<string, Buffer>
}

/**
 * Takes the long texts out of a JSON body: a parser would look at each character of a file in Base64 three times. One with
 * a backslash stays, for only a parser knows what it says.
 */
export function withoutLongTexts(body: Uint8Array): Shortened {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const pieces: Buffer[] = []
  const texts = new Map<string, Buffer>()
  let copied = 0
  // Each value may have a name; a body with more texts is refused by what parses it.
  for (let at = 0, n = 0; n <= 2 * MOST_VALUES; n++) {
    const begin = bytes.indexOf(QUOTE, at) + 1
    const { end, isPlain } = textAt(bytes, begin)
    if (begin === 0 || end === -1) break
    at = end + 1
    if (!isPlain || end - begin < LONG) continue
    const place = randomUUID()
    texts.set(place, bytes.subarray(begin, end))
    pieces.push(bytes.subarray(copied, begin), Buffer.from(place))
    copied = end
  }
  return { rest: Buffer.concat([...pieces, bytes.subarray(copied)]), texts }
}

/** Where the text ends that begins here, -1 where it does not, and whether it says what its bytes are. */
function textAt(bytes: Buffer, begin: number): { readonly end: number; readonly isPlain: boolean } {
  let from = begin
  let end = bytes.indexOf(QUOTE, from)
  while (end !== -1) {
    const escaping = bytes.subarray(from, end).indexOf(BACKSLASH)
    if (escaping === -1) return { end, isPlain: from === begin }
    from += escaping + 2
    if (end < from) end = bytes.indexOf(QUOTE, from)
  }
  return { end, isPlain: false }
}
