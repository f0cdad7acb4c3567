const PREFIX = 'io.modelcontextprotocol/'
const VERSION = '2026-07-28'

export const TASKS = { extensions: { [`${PREFIX}tasks`]: {} } }

type Params = Readonly<Record<string, unknown>>

/** What the client says of itself in each message of this version. */
export const envelopeOf = (capabilities: object) => ({
  [`${PREFIX}protocolVersion`]: VERSION,
  [`${PREFIX}clientInfo`]: { name: 'test', version: '1' },
  [`${PREFIX}clientCapabilities`]: capabilities,
})

export interface Host {
  readonly url: string
  readonly token: string
}

export async function post(
  { url, token }: Host,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Sends a message of this version with the headers that belong to it. */
export async function forward(host: Host, method: string, params: Params) {
  const named = params.name ?? params.taskId
  const { status, text } = await post(
    host,
    { jsonrpc: '2.0', id: 1, method, params },
    {
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(named === undefined ? {} : { 'mcp-name': String(named) }),
    },
  )
  const { result, error } = JSON.parse(text)
  return { status, text, result, error }
}

/** Sends a message as a host does that by default takes tasks. */
export const send = (host: Host, method: string, params: Params, capabilities: object = TASKS) =>
  forward(host, method, { ...params, _meta: envelopeOf(capabilities) })

/** A host that takes tasks. */
export function aHost(url: string, token: string) {
  const host = { url, token }
  const call = (method: string, params: Params) => send(host, method, params)
  return {
    ...host,
    call: async (name: string, given: Params = {}) =>
      (await call('tools/call', { name, arguments: given })).result,
    get: (taskId: string) => call('tasks/get', { taskId }),
    cancel: (taskId: string) => call('tasks/cancel', { taskId }),
    update: (taskId: string, inputResponses?: object) =>
      call('tasks/update', { taskId, ...(inputResponses && { inputResponses }) }),
  }
}

export type TaskHost = ReturnType<typeof aHost>
