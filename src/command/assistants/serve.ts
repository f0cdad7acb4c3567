import { splitLines } from '../../derive/lines.ts'
import { readText } from '../calls/send.ts'
import type { CommandContext } from '../context.ts'
import { runUntilInterrupted } from '../events/follow.ts'
import { CommandFailure, type ExitCode } from '../io.ts'

export async function forwardAssistantMessages(context: CommandContext): Promise<ExitCode> {
  context.connection()
  const session: Session = { version: undefined }
  const forwardAll = async () => {
    const underWay = new Set<Promise<void>>()
    for await (const line of splitLines(context.io.stdin)) {
      // A call may wait for a person, so the other calls run concurrently.
      const forwarded = forward(line, session, context).finally(() => underWay.delete(forwarded))
      underWay.add(forwarded)
    }
    await Promise.all(underWay)
  }
  return runUntilInterrupted(context.io, forwardAll())
}

interface Session {
  /** The protocol version of the handshake, in versions that have one. */
  version: string | undefined
}

async function forward(line: string, session: Session, context: CommandContext): Promise<void> {
  const write = (message: unknown) => void context.io.stdout.write(`${JSON.stringify(message)}\n`)
  const message = parsedLine(line)
  if (message === undefined) return write(errorOf(null, 'This line is not JSON.', -32_700))
  if (!isMessage(message)) return write(errorOf(null, 'This line is not a JSON-RPC message.', -32_600))
  try {
    const headers = headersFor(message, session.version)
    const {
      status,
      headers: answered,
      content,
    } = await context.open('assistants.message', {
      raw: Buffer.from(line),
      headers,
    })
    const answers = await messagesIn(status, answered.get('content-type') ?? '', content)
    for (const answer of answers) {
      session.version = answer.result?.protocolVersion ?? session.version
      write('jsonrpc' in answer ? answer : errorOf(idOf(message), answer.error))
    }
    if (answers.length === 0 && idOf(message) !== null)
      write(errorOf(idOf(message), `The service answered with status ${status}, and no message.`))
  } catch (error) {
    if (context.io.signal.aborted) return
    const sentence = error instanceof CommandFailure ? error.message : 'The service does not answer.'
    if (idOf(message) === null) return context.note(sentence)
    write(errorOf(idOf(message), sentence))
  }
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** A batch of messages passes, too: the service answers it. */
const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null

const errorOf = (id: unknown, message: unknown, code = -32_000) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: String(message) },
})

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly uri?: string
    readonly taskId?: string
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

interface Answered {
  readonly jsonrpc?: string
  readonly result?: { readonly protocolVersion?: string }
  readonly error?: unknown
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/** A notification has no id and gets no answer. */
const idOf = ({ id, method }: Message): string | number | null => (method === undefined ? null : (id ?? null))

/** Over HTTP, headers repeat fields of the message. Older protocol versions negotiate the version in a handshake. */
function headersFor({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const own = params?._meta?.[VERSION]
  const version = typeof own === 'string' ? own : agreed
  const named = params?.name ?? params?.uri ?? params?.taskId
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(version === undefined || method === 'initialize' ? {} : { 'mcp-protocol-version': version }),
    ...(typeof own === 'string' && method ? { 'mcp-method': method } : {}),
    ...(typeof own === 'string' && typeof named === 'string' ? { 'mcp-name': named } : {}),
  }
}

async function messagesIn(
  status: number,
  type: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Answered[]> {
  if (type.startsWith('text/event-stream')) {
    const messages: Answered[] = []
    for await (const line of splitLines(content))
      if (line.startsWith('data:')) messages.push(...parsed(line.slice(5)))
    return messages
  }
  const text = await readText(content)
  return status === 202 ? [] : parsed(text)
}

const parsed = (text: string): Answered[] => (text.trim() === '' ? [] : [JSON.parse(text)])
