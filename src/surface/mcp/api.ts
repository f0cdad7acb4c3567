import { openEndedSchema } from '../../kernel/contract/file.ts'
import { post } from '../../kernel/contract/operation.ts'

export const protocolRefusals = {
  protocol_error: [
    400,
    'This is not a valid message of the protocol. The body names the violated rule of JSON-RPC, or the unsupported version.',
    { rpcCode: -32_600 },
  ],
  unknown_method: [404, 'This method is not supported.', { rpcCode: -32_601 }],
  not_acceptable: [406, 'Accept: send application/json, text/event-stream.', { rpcCode: -32_000 }],
  not_json: [415, 'Content-Type: send the message as application/json.', { rpcCode: -32_000 }],
} as const

export const mcpApi = {
  message: post('/mcp', {
    summary: 'Call the tools of an assistant',
    description: [
      'The Model Context Protocol over Streamable HTTP, without sessions, in the versions 2026-07-28 and 2025-11-25 to 2024-11-05: one JSON-RPC message in, its answer out, as JSON or as server-sent events. A message without an answer gets a 202. There is no GET, since the server sends no unsolicited messages.',
      'Tools are operations of this document, called with the caller’s rights: `tools/list` shows the allowed ones. An agent token spends within its policy. With an API key or a console session, tools read, and changes become proposals unless the key was created with `toolWrites`. A refusal is a result with `isError`, code, message and remedies; an unknown tool is a protocol error (-32602).',
      'A client that declares the extension `io.modelcontextprotocol/tasks` gets a task where a call waits for a person: `tasks/get` looks at it, `tasks/cancel` ends it, and both act on the record itself.',
      'An identical call within ten minutes is done once, unless it has its own `idempotencyKey`. See [Assistant tools](/docs/guides/assistant-tools).',
    ].join('\n\n'),
    callers: ['key', 'agent'],
    run: 'read',
    // The operations that it calls take theirs.
    limits: { bodyKiB: 256, inTurn: false },
    http: {
      issuesTokens: true,
      headers: { 403: { 'WWW-Authenticate': 'The scope that an assistant lacks (RFC 6750).' } },
      howToSignIn:
        'Send a key or an agent’s token: Authorization: Bearer <token>. `agentpay login` gets a key once a person approves it in a browser; a device asks for one with POST /sessions/device; `agentpay agent-tokens create` makes a token for an agent.',
      reads: {
        host: 'An address of this service; others are refused.',
        origin: 'The origin of this service, if a browser sends it; others are refused.',
        accept: 'Both `application/json` and `text/event-stream`.',
        'content-type': '`application/json`.',
        'mcp-protocol-version': 'The version of the protocol, after the first message.',
        'mcp-method': 'The method of the message, since 2026-07-28.',
        'mcp-name': 'The tool, prompt, resource or task that the message names, since 2026-07-28.',
      },
    },
    returns: [200, openEndedSchema('application/json')],
    fails: {
      foreign_host: [403, 'Host: not an address of this service. Use its public URL.'],
      insufficient_scope: [
        403,
        'The assistant may not use this tool yet. Its client asks the person for the scope in WWW-Authenticate.',
      ],
      foreign_origin: [403, 'Origin: pages of other sites cannot call tools here.'],
      ...protocolRefusals,
    },
  }),
}
