/** A message of a stream of server-sent events (HTML standard, section 9.2). */
export interface ServerSentEvent {
  readonly id: string
  readonly data: string
}

/** No message of ours comes near it: one that is longer is none of ours. */
const LONGEST = 4_194_304

/** The messages of a stream, from its bytes however they are cut. Comments and what ends in the middle are left out. */
export async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  const messages = new Messages()
  let rest = ''
  for await (const piece of bytes) {
    rest += decoder.decode(piece, { stream: true })
    if (rest.length > LONGEST) throw new Error('a message of the stream is too long')
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines.flatMap(line => messages.add(line))
  }
}

/** Puts the lines of messages together; the id lasts until the next one. */
class Messages {
  #id = ''
  #data: string[] = []

  /** The message that this line ends, if it ends one. */
  add(line: string): ServerSentEvent[] {
    if (line === '') return this.#end()
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    return []
  }

  #end(): ServerSentEvent[] {
    const data = this.#data
    this.#data = []
    return data.length > 0 ? [{ id: this.#id, data: data.join('\n') }] : []
  }
}
