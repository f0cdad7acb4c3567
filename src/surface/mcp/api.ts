import { mayGoOn } from '../../kernel/contract/file.ts'
import { post } from '../../kernel/contract/operation.ts'

export const protocolRefusals = {
  protocol_error: [
    400,
    'This is no message of the protocol. The body says which rule of JSON-RPC it breaks, or which version is not spoken.',
    { rpcCode: -32_600 },
  ],
  unknown_method: [404, 'The protocol has no such method here.', { rpcCode: -32_601 }],
  not_acceptable: [406, 'Accept: send application/json, text/event-stream.', { rpcCode: -32_000 }],
  not_json: [415, 'Content-Type: send the message as application/json.', { rpcCode: -32_000 }],
} as const

export const mcpApi = {
  message: post('/mcp', {
    summary: 'Call the tools of an assistant',
    description: [
      'The Model Context Protocol over Streamable HTTP, without sessions, in the versions 2026-07-28 and 2025-11-25 to 2024-11-05: one JSON-RPC message in, its answer out, as JSON or as server-sent events. A message without an answer gets a 202. There is no GET: nothing is sent that was not asked for.',
      'Tools are operations of this document with the rights of who calls: `tools/list` shows what the caller may do. An agent’s token spends within its policy. A key, and a person in the console, read by tools, and what would change something becomes a proposal, unless the key was made with `toolWrites`. A refusal is a result with `isError`, its code, its sentence, and what would make it a yes; a tool that nobody has is an error of the protocol (-32602).',
      'The same call within ten minutes is the same act, unless it names an `idempotencyKey` of its own. See docs/assistants.md.',
    ].join('\n\n'),
    callers: ['key', 'agent'],
    run: 'read',
    limits: { bodyKiB: 256 },
    http: {
      howToSignIn:
        'Send a key or an agent’s token: Authorization: Bearer <token>. `agentpay login` gets a key once a person approves it in a browser; a device asks for one by POST /sessions/device; `agentpay agent-tokens create` makes a token for an agent.',
      reads: {
        host: 'An address of this service: another one is refused.',
        origin: 'Of a page of this service, where a browser sends it: another one is refused.',
        accept: 'Both `application/json` and `text/event-stream`.',
        'content-type': '`application/json`.',
        'mcp-protocol-version': 'The version of the protocol, after the first message.',
        'mcp-method': 'The method of the message, since 2026-07-28.',
        'mcp-name': 'The tool, prompt or resource that the message names, since 2026-07-28.',
      },
    },
    returns: [200, mayGoOn('application/json')],
    fails: {
      foreign_host: [403, 'Host: this is no address of this service.'],
      foreign_origin: [403, 'Origin: a page of another site may not call tools here.'],
      ...protocolRefusals,
    },
  }),
}
