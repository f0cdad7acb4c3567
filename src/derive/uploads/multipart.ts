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

/** Refuses what is not whole and what would be costly to read, before it is read. */
function inspectParts(body: Buffer, delimiter: Buffer): void {
  if (body.indexOf(delimiter) !== 0) throw broken('it does not begin with its boundary')
  const between = Buffer.concat([CRLF, delimiter])
  for (let parts = 0, at = delimiter.length; ; parts++) {
    if (body.subarray(at, at + 2).equals(CLOSING)) {
      inspectEnd(body, at + 2)
      return
    }
    if (parts === MOST_PARTS) throw invalid('body', `more than ${MOST_PARTS} parts`)
    if (!body.subarray(at, at + 2).equals(CRLF)) throw broken('a boundary is not followed by a line')
    const headersEnd = body.indexOf(END_OF_HEADERS, at)
    if (headersEnd === -1) throw broken('it is cut off')
    if (headersEnd - at > MOST_HEADER_BYTES)
      throw invalid('body', `a part has more than ${MOST_HEADER_BYTES} bytes of headers`)
    const end = body.indexOf(between, headersEnd + CRLF.length)
    if (end === -1) throw broken('it is cut off')
    at = end + between.length
  }
}

function inspectEnd(body: Buffer, at: number): void {
  const rest = body.subarray(at)
  if (rest.length > 0 && !rest.equals(CRLF)) throw broken('something follows its end')
}

/** The members of a form with files: each name once, a text or a file. */
export async function membersOf(body: Uint8Array, contentType: string): Promise<Map<string, string | File>> {
  inspectParts(Buffer.from(body.buffer, body.byteOffset, body.byteLength), boundaryOf(contentType))
  const form = await readForm(body, contentType)
  const members = new Map<string, string | File>()
  let texts = 0
  for (const [name, value] of form.entries()) {
    if (members.has(name)) throw invalid(name, 'given more than once')
    texts += name.length + (typeof value === 'string' ? value.length : 0)
    if (texts > MOST_TEXT) throw invalid('body', `its texts have more than ${MOST_TEXT} characters`)
    members.set(name, value)
  }
  return members
}

async function readForm(body: Uint8Array, contentType: string): Promise<FormData> {
  try {
    const headers = { 'content-type': contentType }
    return await new Response(body as Uint8Array<ArrayBuffer>, { headers }).formData()
  } catch {
    throw broken('a part cannot be read')
  }
}
