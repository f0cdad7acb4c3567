import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { signWebhookHeaders } from '../../src/values/webhook-signature.ts'
import { bodyOf } from '../support/factories.ts'
import { aBuyer, expectToPayAndReport } from '../support/packages/buyer.ts'
import { launch } from '../support/processes/launched.ts'
import { folder, service } from './installed-service.ts'

/** Starts an example in the folder of the package, as its README says. */
function start(example: string, args: readonly string[], env: Record<string, string>) {
  const program = join(folder, example.replace('/', '-'))
  copyFileSync(join('examples', example), program)
  return launch(process.execPath, [program, ...args], env)
}

test('the agent in TypeScript declares, waits for its person, pays and reports', async () => {
  const { client, env, shop } = await aBuyer(service)
  await expectToPayAndReport(client, start('agents/agent.mjs', [shop], env))
})

test('the agent in TypeScript pays nothing that its person has denied', async () => {
  const { client, env, shop } = await aBuyer(service)
  const agent = start('agents/agent.mjs', [shop], env)
  const [, id = ''] = await agent.untilOutput(/declared: (\w+) is created/)
  await bodyOf(client.intents.deny({ params: { id }, body: { reason: 'Not this one' } }))
  expect([await agent.exit, agent.output()]).toEqual([1, expect.stringContaining('is denied: Not this one')])
})

test('the receiver of webhooks takes what is genuine, once', async () => {
  const receiver = start('webhooks/receiver.mjs', [], { PORT: '0', AGENTPAY_WEBHOOK_SECRET: 'whsec_a' })
  const [address] = await receiver.untilOutput(/http:\S+/)
  const body = '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"agentId":"agent_1"}}'
  const send = async (secret: string) => {
    const event = { deliveryId: 'delivery_1-1', eventId: 'event_1', at: new Date(), event: 'agent.frozen' }
    const headers = signWebhookHeaders({ ...event, body, requestId: 'r1' }, { current: secret, next: null })
    const response = await fetch(address, { method: 'POST', headers, body })
    return [response.status, await response.text()]
  }
  expect([await send('whsec_a'), await send('whsec_a'), await send('whsec_b')]).toEqual([
    [200, 'taken'],
    [200, 'known'],
    [400, ''],
  ])
  expect(receiver.output()).toContain('agent.frozen: agent_1')
  const without = start('webhooks/receiver.mjs', [], { PORT: '0' })
  expect([await without.exit, without.output()]).toEqual([
    1,
    expect.stringContaining('Set AGENTPAY_WEBHOOK_SECRET'),
  ])
})

test('the configuration of an assistant starts the command of the package by its absolute path', () => {
  const { mcpServers } = JSON.parse(readFileSync('examples/assistants/mcp.json', 'utf8'))
  const { command, args, env } = mcpServers.agentpay
  expect(isAbsolute(command)).toBe(true)
  expect(Object.keys(env)).toEqual(['AGENTPAY_URL', 'AGENTPAY_KEY'])
  const ours = command.replace('/path/to/your/folder', folder)
  expect(execFileSync(ours, [...args, '--help'], { encoding: 'utf8' })).toContain('agentpay mcp')
})
