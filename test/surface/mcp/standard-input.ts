import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { runCommand } from '../../support/command.ts'
import { agentTokensIn } from '../../support/control/agent-tokens.ts'
import { aFundedAgent, aPolicy, aToken } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aHost, envelopeOf, TASKS } from '../../support/http/tasks.ts'

const service = await startTestService()

const run = async (messages: readonly object[], token: string) => {
  const input = messages.map(message => `${JSON.stringify(message)}\n`).join('')
  const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: token }
  const { code, out, err } = await runCommand(['mcp'], { input, env })
  const answers = out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  return { code, err, answers: new Map(answers.map(answer => [answer.id, answer])) }
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('agentpay mcp', () => {
  test('brings the messages of an assistant to the service, and the answers back', async () => {
    const { token } = await agentTokensIn(service).anOwnerWithAgent()
    const { code, answers } = await run(
      [
        initialize,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 2, method: 'tools/list' },
        { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'get_balance', arguments: {} } },
        {
          jsonrpc: '2.0',
          id: 4,
          method: 'tools/call',
          params: { name: 'get_balance', arguments: {}, _meta: meta },
        },
      ],
      String(token.token),
    )
    expect([code, answers.size]).toEqual([0, 4])
    expect(answers.get(1).result).toMatchObject({ serverInfo: { name: 'agentpay' } })
    expect(JSON.stringify(answers.get(2).result)).toContain('declare_intent')
    for (const id of [3, 4]) expect(answers.get(id).result.isError).toBeUndefined()
  })

  test('answers what is no JSON, and what the service refuses, with an error of the protocol', async () => {
    const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: 'sk_sandbox_unknown1' }
    const input = `no json\n${JSON.stringify(initialize)}\n`
    const { out } = await runCommand(['mcp'], { input, env })
    const answers = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers.map(({ error }) => error.code).sort()).toEqual([-32_000, -32_700])
    expect(out).toContain('agentpay login')
  })

  test.each([302, 200, 502])('answers a message that an empty answer with %i is for', async status => {
    const between = createServer((_, response) => response.writeHead(status).end())
    const env = { AGENTPAY_URL: await addressOf(between), AGENTPAY_KEY: 'sk_sandbox_unknown1' }
    const { out } = await runCommand(['mcp'], { input: `${JSON.stringify(initialize)}\n`, env })
    between.close()
    expect(JSON.parse(out)).toMatchObject({
      id: 1,
      error: { message: `The service answered with status ${status}, and no message.` },
    })
  })

  test.each(['null', '7', '"text"', 'true'])(
    'answers %s, which is no message, and goes on with the next line',
    async line => {
      const { token } = await agentTokensIn(service).anOwnerWithAgent()
      const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: String(token.token) }
      const { code, out } = await runCommand(['mcp'], {
        env,
        input: `${line}\n${JSON.stringify(initialize)}\n`,
      })
      const answers = out
        .trim()
        .split('\n')
        .map(answer => JSON.parse(answer))
      expect([code, answers]).toEqual([
        0,
        [
          expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_600 }) }),
          expect.objectContaining({ id: 1, result: expect.anything() }),
        ],
      ])
    },
  )

  test('brings the messages about a task', async () => {
    const { client } = await service.owner()
    const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 1 })
    const { id: agentId } = await aFundedAgent(client, { policyId })
    const token = String((await aToken(client, agentId)).token)
    const given = { amountEuros: 10, merchant: 'Bookshop', purpose: 'A book' }
    const { taskId } = await aHost(service.url, token).call('declare_intent', given)
    const params = { taskId, _meta: envelopeOf(TASKS) }
    const { answers } = await run([{ jsonrpc: '2.0', id: 1, method: 'tasks/get', params }], token)
    expect(answers.get(1).result).toMatchObject({ taskId, status: 'working' })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('ends by %s, also while a call is under way', async signal => {
    let called = () => {}
    const isCalled = new Promise<void>(resolve => {
      called = resolve
    })
    const silent = createServer(() => called())
    const env = { AGENTPAY_URL: await addressOf(silent), AGENTPAY_KEY: 'sk_sandbox_unknown1' }
    const child = spawn(process.execPath, ['src/bin/launcher/agentpay.mjs', 'mcp'], { env })
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
    child.stdin.write(`${JSON.stringify(initialize)}\n`)
    await isCalled
    child.kill(signal)
    expect(await ended).toEqual([[0, null], '', ''])
    silent.close()
  })

  test('refuses without a sign-in', async () => {
    const { code, err } = await runCommand(['mcp'], {})
    expect([code, err]).toEqual([3, expect.stringMatching(/\w/)])
  })
})
