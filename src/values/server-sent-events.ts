/** HTML standard, section 9.2. */
export interface ServerSentEvent {
  readonly id: string
  readonly data: string
}

/** A longer message cannot be one of this service. */
const LONGEST = 4_194_304

/** From bytes however they are cut. Comments and an incomplete last message are left out. */
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

class Messages {
  #id = ''
  #data: string[] = []

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
