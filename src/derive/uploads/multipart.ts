import { invalid } from '../http/body.ts'

/** More parts than any contract has members. */
const MOST_PARTS = 32
/** The headers of one part: its name, its file name, its type. */
const MOST_HEADER_BYTES = 2_048
/** All texts of a body together. */
const MOST_TEXT = 65_536

const CRLF = Buffer.from('\r\n')
const END_OF_HEADERS = Buffer.from('\r\n\r\n')
const CLOSING = Buffer.from('--')

const broken = (why: string) => invalid('body', `is no valid multipart/form-data: ${why}`)

/** RFC 2046: 1 to 70 of these characters. */
function boundaryOf(contentType: string): Buffer {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw broken('its Content-Type names no boundary')
  return Buffer.from(`--${boundary}`)
}

interface Part {
  /** Its headers, with the empty line behind them. */
  readonly head: Buffer
  readonly content: Buffer
  readonly isFile: boolean
}

/** The parts of a body that is whole, within bounds; what is in them is not looked at. */
function partsOf(body: Buffer, delimiter: Buffer): Part[] {
  if (body.indexOf(delimiter) !== 0) throw broken('it does not begin with its boundary')
  const between = Buffer.concat([CRLF, delimiter])
  const parts: Part[] = []
  let at = delimiter.length
  while (!body.subarray(at, at + 2).equals(CLOSING)) {
    if (parts.length === MOST_PARTS) throw invalid('body', `more than ${MOST_PARTS} parts`)
    if (!body.subarray(at, at + 2).equals(CRLF)) throw broken('a boundary is not followed by a line')
    const begin = contentAt(body, at)
    const end = body.indexOf(between, begin)
    if (end === -1) throw broken('it is cut off')
    const head = body.subarray(at + 2, begin)
    parts.push({ head, content: body.subarray(begin, end), isFile: namesFile(head) })
    at = end + between.length
  }
  const rest = body.subarray(at + 2)
  if (rest.length > 0 && !rest.equals(CRLF)) throw broken('something follows its end')
  return parts
}

/** Where the content of the part begins whose headers begin here. */
function contentAt(body: Buffer, at: number): number {
  const end = body.indexOf(END_OF_HEADERS, at)
  if (end === -1) throw broken('it is cut off')
  if (end - at > MOST_HEADER_BYTES)
    throw invalid('body', `a part has more than ${MOST_HEADER_BYTES} bytes of headers`)
  return end + END_OF_HEADERS.length
}

const namesFile = (head: Buffer): boolean => /;\s*filename\*?=/i.test(head.toString('latin1'))

export interface FilePart {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

/** The members of a form with files: each name once, a text or a file. */
export async function membersOf(
  body: Uint8Array,
  contentType: string,
): Promise<Map<string, string | FilePart>> {
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const parts = partsOf(whole, boundaryOf(contentType))
  const texts = parts.reduce((sum, { content, isFile }) => sum + (isFile ? 0 : content.length), 0)
  if (texts > MOST_TEXT) throw invalid('body', `its texts have more than ${MOST_TEXT} bytes`)
  const entries = [...(await readHeads(parts))]
  if (entries.length !== parts.length) throw broken('a part cannot be read')
  const members = new Map<string, string | FilePart>()
  for (const [index, [name, value]] of entries.entries()) {
    if (members.has(name)) throw invalid(name, 'given more than once')
    members.set(name, typeof value === 'string' ? value : fileIn(parts[index], value))
  }
  return members
}

function fileIn(part: Part | undefined, { name, type }: File): FilePart {
  if (!part?.isFile) throw broken('a part cannot be read')
  return { name, type, bytes: part.content }
}

const OWN = 'the-parts-without-the-contents-of-files'

/**
 * Node reads the headers and the texts. The contents of files are left out: it would copy them, and look for the boundary
 * in them without the line that precedes it.
 */
async function readHeads(parts: readonly Part[]): Promise<FormData> {
  const pieces = parts.flatMap(({ head, content, isFile }) => {
    if (!isFile && content.includes(OWN)) throw broken('a part cannot be read')
    return [Buffer.from(`--${OWN}\r\n`), head, isFile ? Buffer.alloc(0) : content, CRLF]
  })
  const headers = { 'content-type': `multipart/form-data; boundary=${OWN}` }
  try {
    return await new Response(Buffer.concat([...pieces, Buffer.from(`--${OWN}--\r\n`)]), {
      headers,
    }).formData()
  } catch {
    throw broken('a part cannot be read')
  }
}
