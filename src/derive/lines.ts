const LONGEST = 4_194_304
const END = 10

/**
 * Splits a text that arrives in pieces into lines, and skips empty ones. For invalid input, including bytes
 * that are not UTF-8, it throws `refused`, if given.
 */
export async function* splitLines(
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  refused?: (message: string) => Error,
): AsyncGenerator<string> {
  const line = new Line(refused)
  for await (const piece of content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    let start = 0
    for (let end = bytes.indexOf(END); end >= 0; end = bytes.indexOf(END, start)) {
      line.add(bytes.subarray(start, end))
      start = end + 1
      const text = line.take()
      if (text !== '') yield text
    }
    line.add(bytes.subarray(start))
  }
  const text = line.take()
  if (text !== '') yield text
}

class Line {
  readonly #refused: ((message: string) => Error) | undefined
  readonly #decoder: InstanceType<typeof TextDecoder>
  #pieces: Uint8Array[] = []
  #length = 0
  #isFirst = true

  constructor(refused?: (message: string) => Error) {
    this.#refused = refused
    this.#decoder = new TextDecoder('utf-8', { fatal: refused !== undefined, ignoreBOM: true })
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length
    if (this.#length > LONGEST) throw this.#problem('A line is longer than 4 MiB.')
    if (piece.length > 0) this.#pieces.push(piece)
  }

  take(): string {
    const [only, ...more] = this.#pieces
    const text = only === undefined ? '' : this.#decoded(more.length > 0 ? Buffer.concat(this.#pieces) : only)
    const isMarked = this.#isFirst && text.startsWith('\uFEFF')
    this.#pieces = []
    this.#length = 0
    this.#isFirst = false
    return isMarked ? text.slice(1) : text
  }

  #decoded(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw this.#problem('A line is no text in UTF-8.')
    }
  }

  #problem(message: string): Error {
    return this.#refused?.(message) ?? new RangeError(message)
  }
}
