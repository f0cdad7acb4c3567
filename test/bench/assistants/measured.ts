import { type Case, measure, type Request, type Result } from '../case.ts'
import { fillAgents } from '../database/intent-rows.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'

const CONNECTIONS = usualOrShort(32, 8)
const SECONDS = usualOrShort(3, 0.5)
const ROUNDS = usualOrShort(3, 1)
const LISTS = usualOrShort(200, 5)

const AGENT = 'agent_bench_1'
const intent = { amountEuros: 0.01, merchant: 'Bookshop {each}', purpose: 'A paper on caching' }

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const headersFor = (method: string, name?: string) => ({
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name ? { 'mcp-name': name } : {}),
})

const callOf = (name: string, given: object, token: string): Request => ({
  method: 'POST',
  path: '/mcp',
  token,
  headers: headersFor('tools/call', name),
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } },
  expects: '"structuredContent"',
})

interface Pair {
  readonly title: string
  readonly rest: Request
  readonly tool: Request
}

const pairsFor = (token: string): Pair[] => [
  {
    title: 'get_balance beside GET /agents/{id}/balance',
    rest: { method: 'GET', path: `/agents/${AGENT}/balance`, token },
    tool: callOf('get_balance', {}, token),
  },
  {
    title: 'declare_intent beside POST /intents, each with a key of its own',
    rest: { method: 'POST', path: '/intents', token, body: intent, keys: true },
    tool: callOf('declare_intent', { ...intent, idempotencyKey: '{each}' }, token),
  },
]

/** A tool call against the same REST call, in turns, and the list of tools. */
export async function measureAssistants(stage: Stage): Promise<Section> {
  await fillAgents(stage)
  const made = await post(stage.api, `/agents/${AGENT}/tokens`, { label: 'Bench' }, bearer(stage))
  const token = String(made.token)
  const pairs: { title: string; rest: Result; tool: Result }[] = []
  for (const { title, rest, tool } of pairsFor(token))
    for (let round = 0; round < ROUNDS; round++)
      pairs.push({ title, rest: await load(stage, rest), tool: await load(stage, tool) })
  const list = await listTimes(stage, token)
  const firstLine = await firstLineTimes(stage, token)
  const text = [
    tableLine([`at ${CONNECTIONS} connections, in turns`, 'REST', 'tool', 'share', 'cpu, REST', 'cpu, tool']),
    ...pairs.map(({ title, rest, tool }) =>
      tableLine([
        title,
        `${wholeNumber(rest.perSecond)}/s`,
        `${wholeNumber(tool.perSecond)}/s`,
        ratio(tool.perSecond, rest.perSecond),
        `${wholeNumber(rest.cpuMicroseconds)}µs`,
        `${wholeNumber(tool.cpuMicroseconds)}µs`,
      ]),
    ),
    '',
    tableLine([
      'first line of a conversation',
      `p50 ${firstLine.p50.toFixed(1)} ms`,
      `p99 ${firstLine.p99.toFixed(1)} ms`,
    ]),
    tableLine(['tools/list', `p50 ${list.p50.toFixed(1)} ms`, `${wholeNumber(list.bytes)} bytes`]),
  ].join('\n')
  return { figures: { mcp: { pairs, list, firstLine } }, text }
}

const load = ({ api, ...stage }: Stage, request: Request): Promise<Result> => {
  const one: Case = { name: request.path, title: request.path, server: api, request: () => request }
  return measure(stage, one, CONNECTIONS, SECONDS)
}

async function listTimes({ api }: Stage, token: string) {
  const times: number[] = []
  let bytes = 0
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
  const headers = {
    ...headersFor('tools/list'),
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  }
  for (let n = 0; n < LISTS; n++) {
    const began = performance.now()
    const answer = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body })
    bytes = (await answer.text()).length
    times.push(performance.now() - began)
  }
  return { p50: times.toSorted((a, b) => a - b)[Math.floor(LISTS / 2)] ?? Number.NaN, bytes }
}

/** The time from the message to the first line of the answer. */
async function firstLineTimes({ api }: Stage, token: string) {
  const times: number[] = []
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ message: 'What is waiting?' })
  for (let n = 0; n < LISTS; n++) {
    const began = performance.now()
    const answer = await fetch(`${api.url}/canvas/messages`, { method: 'POST', headers, body })
    const reader = answer.body?.getReader()
    await reader?.read()
    times.push(performance.now() - began)
    while (!(await reader?.read())?.done);
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (LISTS - 1))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}
