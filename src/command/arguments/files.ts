import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { type CommandIo, fileError, usageError } from '../io.ts'

export class NamedFile {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export async function readInput({ stdin }: CommandIo): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stdin) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** Larger than any body that the service accepts. */
const LARGEST = 67_108_864

export async function readNamedFile(name: string, { cwd }: Pick<CommandIo, 'cwd'>): Promise<Buffer> {
  try {
    await using file = await open(resolve(cwd, name))
    const { size } = await file.stat()
    if (size > LARGEST)
      throw usageError(`${name} is too large: it has ${size} bytes. Send at most ${LARGEST}.`)
    return await file.readFile()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined || error instanceof RangeError
      ? error
      : usageError(fileError(name, 'read', code))
  }
}

export const hasFiles = (body: Readonly<Record<string, unknown>>): boolean =>
  Object.values(body).some(value => value instanceof NamedFile)

const types: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
}

/** A body as `multipart/form-data`: files as files, texts as texts, null left out, anything else as JSON in its part. */
export async function multipartForm(body: Readonly<Record<string, unknown>>, io: CommandIo) {
  const boundary = `agentpay-${randomUUID()}`
  const pieces: Buffer[] = []
  for (const [name, value] of Object.entries(body).filter(([, value]) => value !== null)) {
    const { head, content } = await partOf(name, value, io)
    pieces.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), content, Buffer.from('\r\n'))
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return { raw: Buffer.concat(pieces), headers }
}

async function partOf(
  name: string,
  value: unknown,
  io: CommandIo,
): Promise<{ readonly head: string; readonly content: Buffer }> {
  const head = `Content-Disposition: form-data; name="${quoted(name)}"`
  if (!(value instanceof NamedFile)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return { head, content: Buffer.from(text) }
  }
  const isInput = value.name === '-'
  const type = types[extname(value.name).toLowerCase()] ?? 'application/octet-stream'
  const fileName = quoted(isInput ? name : basename(value.name))
  return {
    head: `${head}; filename="${fileName}"\r\nContent-Type: ${type}`,
    content: isInput ? await readInput(io) : await readNamedFile(value.name, io),
  }
}

/** Quoted as browsers do, so that a name cannot end its header. */
const quoted = (name: string): string =>
  name.replace(
    /["\r\n]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
