import { linesOf } from '../../derive/lines.ts'
import { textOf } from '../calls/send.ts'

/** A message of JSON-RPC, as far as this command looks at it. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly uri?: string
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

interface Answered {
  readonly jsonrpc?: string
  readonly result?: { readonly protocolVersion?: string }
  readonly error?: unknown
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/** A notification has no id, and gets no answer. */
export const idOf = ({ id, method }: Message): string | number | null =>
  method === undefined ? null : (id ?? null)

/** Over HTTP headers repeat what a message says of itself. Older versions agree upon one at the beginning. */
export function headersFor({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const own = params?._meta?.[VERSION]
  const version = typeof own === 'string' ? own : agreed
  const named = params?.name ?? params?.uri
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(version === undefined || method === 'initialize' ? {} : { 'mcp-protocol-version': version }),
    ...(typeof own === 'string' && method ? { 'mcp-method': method } : {}),
    ...(typeof own === 'string' && typeof named === 'string' ? { 'mcp-name': named } : {}),
  }
}

/** The messages of an answer: one as JSON, any number as server-sent events, none where nothing is to be said. */
export async function messagesIn(
  status: number,
  type: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Answered[]> {
  if (type.startsWith('text/event-stream')) {
    const messages: Answered[] = []
    for await (const line of linesOf(content))
      if (line.startsWith('data:')) messages.push(...parsed(line.slice(5)))
    return messages
  }
  const text = await textOf(content)
  return status === 202 ? [] : parsed(text)
}

const parsed = (text: string): Answered[] => (text.trim() === '' ? [] : [JSON.parse(text)])
