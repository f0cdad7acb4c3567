import { invalidRequest } from '../http/body.ts'
import type { FileFacts, IncomingFile } from './incoming-file.ts'

const MAX_PARTS = 32
const MAX_HEADER_BYTES = 2_048
const MAX_TEXT = 65_536

const CR = 0x0d
const CRLF = Buffer.from('\r\n')
const END_OF_HEADERS = Buffer.from('\r\n\r\n')
const CLOSING = Buffer.from('--')
const NOTHING = Buffer.alloc(0)

const broken = (why: string) => invalidRequest('body', `is no valid multipart/form-data: ${why}`)

/** RFC 2046 allows 1 to 70 of these characters. */
function boundaryOf(contentType: string): Buffer {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw broken('its Content-Type names no boundary')
  return Buffer.from(`--${boundary}`)
}

interface TextPart {
  readonly head: Buffer
  content: Buffer
}

interface FilePart {
  readonly name: string
  readonly fileName: string
  readonly type: string
  readonly file: IncomingFile
}

type Place = 'start' | 'after a boundary' | 'head' | 'content' | 'end'

const namesFile = (head: Buffer): boolean => /;\s*filename\*?=/i.test(head.toString('latin1'))

/** Reads `multipart/form-data` piece by piece. Files are passed on as they arrive; texts are kept until the end. */
export class MultipartReader {
  readonly #delimiter: Buffer
  readonly #between: Buffer
  readonly #open: (name: string) => IncomingFile
  readonly #texts: TextPart[] = []
  readonly #files = new Map<string, FileFacts>()
  #place: Place = 'start'
  #parts = 0
  #textBytes = 0
  #part: TextPart | FilePart | undefined
  /** Bytes that cannot be interpreted yet. They are never more than the head of a part. */
  #held: Buffer = NOTHING

  /** `open` is called at the beginning of each file, once per name. */
  constructor(contentType: string, open: (name: string) => IncomingFile) {
    this.#delimiter = boundaryOf(contentType)
    this.#between = Buffer.concat([CRLF, this.#delimiter])
    this.#open = open
  }

  async add(piece: Uint8Array): Promise<void> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let data = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes
    for (;;) {
      const length = await this.#read(data)
      if (length === undefined) break
      data = data.subarray(length)
    }
    // Copies the bytes, since the memory of the piece is reused.
    this.#held = Buffer.from(data.subarray(data.length - this.#undecided(data)))
  }

  #undecided(data: Buffer): number {
    return this.#place === 'content' ? data.length - this.#contentEnd(data) : data.length
  }

  #read(data: Buffer): number | undefined | Promise<number | undefined> {
    if (this.#place === 'start') return this.#readStart(data)
    if (this.#place === 'after a boundary') return this.#readBoundaryEnd(data)
    if (this.#place === 'head') return this.#readHead(data)
    if (this.#place === 'content') return this.#readContent(data)
    return this.#readEnd(data)
  }

  #readStart(data: Buffer): number | undefined {
    const { length } = this.#delimiter
    if (data.length < length) return undefined
    if (!data.subarray(0, length).equals(this.#delimiter)) throw broken('it does not begin with its boundary')
    this.#place = 'after a boundary'
    return length
  }

  #readBoundaryEnd(data: Buffer): number | undefined {
    if (data.length < 2) return undefined
    const two = data.subarray(0, 2)
    if (two.equals(CLOSING)) {
      this.#place = 'end'
      return 2
    }
    if (this.#parts++ === MAX_PARTS) throw invalidRequest('body', `more than ${MAX_PARTS} parts`)
    if (!two.equals(CRLF)) throw broken('a boundary is not followed by a line')
    this.#place = 'head'
    // The line break stays, since a part without headers has only the empty line.
    return 0
  }

  async #readHead(data: Buffer): Promise<number | undefined> {
    const end = data.indexOf(END_OF_HEADERS)
    if ((end === -1 ? data.length - END_OF_HEADERS.length : end) > MAX_HEADER_BYTES)
      throw invalidRequest('body', `a part has more than ${MAX_HEADER_BYTES} bytes of headers`)
    if (end === -1) return undefined
    const length = end + END_OF_HEADERS.length
    const head = Buffer.from(data.subarray(CRLF.length, length))
    this.#part = namesFile(head) ? await this.#fileOf(head) : { head, content: NOTHING }
    this.#place = 'content'
    return length
  }

  async #fileOf(head: Buffer): Promise<FilePart> {
    const [name, { name: fileName, type }] = await readFileHead(head)
    if (this.#files.has(name)) throw invalidRequest(name, 'given more than once')
    return { name, fileName, type, file: this.#open(name) }
  }

  async #readContent(data: Buffer): Promise<number | undefined> {
    const end = data.indexOf(this.#between)
    const length = end === -1 ? this.#contentEnd(data) : end
    await this.#addContent(data.subarray(0, length))
    if (end === -1) return undefined
    this.#endPart()
    this.#place = 'after a boundary'
    return end + this.#between.length
  }

  /** Finds the end of the content before a boundary, which may be incomplete. */
  #contentEnd(data: Buffer): number {
    const from = Math.max(0, data.length - this.#between.length + 1)
    const begun = data.indexOf(CR, from)
    return begun === -1 ? data.length : begun
  }

  async #addContent(content: Buffer): Promise<void> {
    const part = this.#part
    if (!part) throw new Error('content belongs to a part')
    if ('file' in part) return part.file.add(content)
    this.#textBytes += content.length
    if (this.#textBytes > MAX_TEXT) throw invalidRequest('body', `its texts have more than ${MAX_TEXT} bytes`)
    part.content = Buffer.concat([part.content, content])
  }

  #endPart(): void {
    const part = this.#part
    if (!part) return
    if ('file' in part) {
      part.file.end(part.fileName, part.type)
      if (part.file.facts) this.#files.set(part.name, part.file.facts)
    } else this.#texts.push(part)
    this.#part = undefined
  }

  #readEnd(data: Buffer): undefined {
    if (data.length > CRLF.length || !CRLF.subarray(0, data.length).equals(data))
      throw broken('something follows its end')
    return undefined
  }

  async end(): Promise<Map<string, string | FileFacts>> {
    const held = this.#held
    if (this.#place === 'start') throw broken('it does not begin with its boundary')
    if (this.#place === 'after a boundary') throw broken('a boundary is not followed by a line')
    if (this.#place !== 'end') throw broken('it is cut off')
    if (held.length === 1) throw broken('something follows its end')
    const members = new Map<string, string | FileFacts>(this.#files)
    const texts = [...(await readHeads(this.#texts))]
    if (texts.length !== this.#texts.length) throw broken('a part cannot be read')
    for (const [name, value] of texts) {
      if (typeof value !== 'string') throw broken('a part cannot be read')
      if (members.has(name)) throw invalidRequest(name, 'given more than once')
      members.set(name, value)
    }
    return members
  }
}

async function readFileHead(head: Buffer): Promise<readonly [string, File]> {
  const [entry] = [...(await readHeads([{ head, content: NOTHING }]))]
  const [name, file] = entry ?? []
  if (name === undefined || !(file instanceof File)) throw broken('a part cannot be read')
  return [name, file]
}

const OWN = 'the-parts-without-the-contents-of-files'

/** Node parses the headers and the texts. The contents of files are left out, since they have been passed on. */
async function readHeads(parts: readonly TextPart[]): Promise<FormData> {
  const pieces = parts.flatMap(({ head, content }) => {
    if (content.includes(OWN)) throw broken('a part cannot be read')
    return [Buffer.from(`--${OWN}\r\n`), head, content, CRLF]
  })
  if (parts.length === 0) return new FormData()
  const headers = { 'content-type': `multipart/form-data; boundary=${OWN}` }
  try {
    return await new Response(Buffer.concat([...pieces, Buffer.from(`--${OWN}--\r\n`)]), {
      headers,
    }).formData()
  } catch {
    throw broken('a part cannot be read')
  }
}
