import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import type { ResponseFile } from '../../kernel/contract/file.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { type HandlerAnswer, Problem, Refusal, withHeaders } from '../../kernel/contract/problem.ts'
import { type mcpApi, protocolRefusals } from './api.ts'
import {
  callToolDirectly,
  listToolsDirectly,
  parsePlainRequest,
  readResourceDirectly,
} from './plain-request.ts'
import { createMcpServer } from './server.ts'
import { needsMoreScope } from './step-up.ts'

const FORWARDED = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** MCP has no state here: any process answers any message. */
export async function serveMcp(
  context: ContextOf<typeof mcpApi.message>,
): Promise<HandlerAnswer<ResponseFile>> {
  const message = messageIn(context)
  if (message instanceof Problem) return protocolError(-32_700, message.message)
  if (needsMoreScope(message, context)) return insufficientScope(context)
  if (Array.isArray(message)) return protocolError(-32_600, 'Batches are not supported. Send one message.')
  return (await serveDirectly(message, context)) ?? serveByProtocol(message, context)
}

/** RFC 6750 and 9728: the client asks its person for these scopes, and calls again. */
function insufficientScope({ service, refuse }: ContextOf<typeof mcpApi.message>) {
  const metadata = `${service.publicUrl()}/.well-known/oauth-protected-resource/mcp`
  return withHeaders(refuse('insufficient_scope'), {
    'WWW-Authenticate': `Bearer error="insufficient_scope", scope="payer", resource_metadata="${metadata}"`,
  })
}

export async function serveDirectly(message: unknown, context: Context): Promise<ResponseFile | undefined> {
  const request = parsePlainRequest(message, context)
  if (!request) return undefined
  return (
    (await callToolDirectly(request, context)) ??
    (await listToolsDirectly(request, context)) ??
    readResourceDirectly(request, context)
  )
}

export async function serveByProtocol(message: unknown, context: Context): Promise<ResponseFile> {
  const { fetch } = createMcpHandler(({ era }) => createMcpServer(context, era), { maxSubscriptions: 0 })
  return fileOf(await fetch(requestOf(context), { parsedBody: message }))
}

function messageIn({ rawBody, service }: Context): unknown {
  try {
    return service.tools.read(rawBody)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

function requestOf({ headers, host, rawBody, ending }: Context): Request {
  const forwarded = FORWARDED.flatMap((name): [string, string][] => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  // The parsed body is passed beside the request, which only has to have one.
  const body = Buffer.from(rawBody)
  return new Request(`http://${host}/mcp`, { method: 'POST', headers: forwarded, body, signal: ending })
}

const codesByStatus = new Map<number, keyof typeof protocolRefusals>(
  (Object.keys(protocolRefusals) as (keyof typeof protocolRefusals)[]).map(code => [
    protocolRefusals[code][0],
    code,
  ]),
)

async function fileOf(response: Response): Promise<ResponseFile> {
  const { status, body, headers } = response
  const type = headers.get('content-type') ?? 'application/json'
  if (status < 400) {
    const isStream = body !== null && type.startsWith('text/event-stream')
    return {
      type,
      status,
      content: isStream ? (body as unknown as AsyncIterable<Uint8Array>) : await response.text(),
    }
  }
  const code = codesByStatus.get(status) ?? 'protocol_error'
  const refusal = new Refusal(status, code, protocolRefusals[code][1])
  return { type, content: await response.text(), refusal }
}

function protocolError(code: number, message: string): ResponseFile {
  const [status, sentence] = protocolRefusals.protocol_error
  return {
    type: 'application/json',
    content: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
    refusal: new Refusal(status, 'protocol_error', sentence),
  }
}
