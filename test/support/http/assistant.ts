import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

type Version = '2026-07-28' | 'legacy'

interface Connection {
  readonly version?: Version
  /** Answers the service's requests to the user; opened addresses are recorded here. */
  readonly opened?: string[]
  /** What the user does meanwhile, and the answer. */
  readonly late?: () => Promise<{ readonly action: 'accept' }>
}

export interface ToolResult {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: each test checks what it was answered
  readonly structuredContent?: any
  readonly _meta?: Readonly<Record<string, unknown>>
}

export async function anAssistant(
  url: string,
  token: string,
  { version = 'legacy', opened, late }: Connection = {},
) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: version === 'legacy' ? 'legacy' : { pin: version } },
      capabilities: opened ? { elicitation: { url: {} } } : {},
    },
  )
  if (opened)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      opened.push((params as { url: string }).url)
      return late ? late() : { action: 'accept' as const }
    })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))
  return {
    client,
    tools: async () => (await client.listTools()).tools,
    call: async (name: string, given: Record<string, unknown> = {}) =>
      (await client.callTool({ name, arguments: given })) as unknown as ToolResult,
  }
}

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('\n')
