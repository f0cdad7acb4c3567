import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { anAgent, aToken, bodyOf, type TestClient } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { following } from './following.ts'

const service = await startTestService()
const proxy = await flakyProxy(service.url)

const idsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.events.list({ query }))).data.map(({ id }) => id).toReversed()

const BEGUN = 'Following events from now on.'
const freeze = (client: TestClient, id: string) => client.agents.freeze({ params: { id } })

async function aTail(argv: readonly string[] = [], given: { columns?: number; url?: string } = {}) {
  const owner = await service.owner()
  const agent = await anAgent(owner.client)
  const { url = service.url, columns } = given
  const ran = following(['events', 'tail', ...argv], {
    env: { AGENTPAY_URL: url, AGENTPAY_KEY: owner.key },
    ...(columns === undefined ? {} : { columns }),
  })
  await until('the tail follows', () => ran.err().includes(BEGUN))
  return Object.assign(ran, owner, { agent })
}

describe('agentpay events tail', () => {
  test('gives a pipe one line of JSON for each event, as it is read at its address, and ends with 0', async () => {
    const { client, agent, lines, end } = await aTail()
    await freeze(client, agent.id)
    await until('the event has come', () => lines().length >= 1)
    const [frozen] = await idsOf(client, { event: 'agent.frozen' })
    expect(lines().map(line => JSON.parse(line))).toEqual([
      await bodyOf(client.events.get({ params: { id: String(frozen) } })),
    ])
    expect((await end()).code).toBe(0)
  })

  test('gives a terminal one line for each, in which nothing can move it', async () => {
    const { client, agent, lines, end } = await aTail(['--type', 'intent.created'], { columns: 120 })
    const body = {
      amountEuros: 5,
      merchant: 'Shop\u202egnp',
      purpose: 'A book\n\u001b[2J',
      agentId: agent.id,
    }
    const answer = await client.intents.create({ body })
    await until('the event has come', () => lines().length >= 1)
    const { out } = await end()
    expect(lines()).toHaveLength(1)
    expect(out).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}intent\.created .*amountEuros=5\.00 .*event_\w+\n$/,
    )
    expect(out).toContain(`intentId=${(answer.body as { id: string }).id}`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(out.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u0080-\u009f\u202e]/)
  })

  test('takes only the events and the agent that are named', async () => {
    const { client, agent, key } = await aTail()
    const other = await anAgent(client)
    const types = ['--type', 'agent.frozen,agent.unfrozen']
    const ran = following(['events', 'tail', ...types, '--agent', agent.id], {
      env: { AGENTPAY_URL: service.url, AGENTPAY_KEY: key },
    })
    await until('the tail follows', () => ran.err().includes(BEGUN))
    await freeze(client, other.id)
    await aToken(client, agent.id)
    await freeze(client, agent.id)
    await client.agents.unfreeze({ params: { id: agent.id } })
    await until('both have come', () => ran.lines().length >= 2)
    expect(ran.lines().map(line => JSON.parse(line))).toMatchObject([
      { event: 'agent.frozen', data: { agentId: agent.id } },
      { event: 'agent.unfrozen', data: { agentId: agent.id } },
    ])
    await ran.end()
  })

  test('refuses names that no event has', async () => {
    const { key } = await service.owner()
    const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: key }
    const one = await following(['events', 'tail', '--type', 'agent.frozn'], { env }).ended
    expect([one.code, one.err]).toEqual([1, expect.stringContaining('Did you mean agent.frozen')])
    const several = await following(['events', 'tail', '--type', 'agent.frozn,agent.created'], { env }).ended
    expect([several.code, several.err]).toEqual([2, expect.stringContaining('Did you mean agent.frozen?')])
  })

  test('continues after the last event when the connection breaks, without gaps or repetitions', async () => {
    const { client, lines, err, end } = await aTail([], { url: proxy.url.replace(/\/$/, '') })
    const before = await idsOf(client)
    await proxy.close()
    await anAgent(client)
    await until('the tail has noticed', () => err().includes('The connection broke'))
    await proxy.open()
    await anAgent(client)
    proxy.cutAll()
    await anAgent(client)
    const all = (await idsOf(client)).slice(before.length)
    const came = () => lines().map(line => JSON.parse(line).id)
    await until('all have come', () => all.every(id => came().includes(id)))
    // Events from just before the tail began become visible late beside a long transaction, and count as new.
    const since = came().filter(id => !before.includes(id))
    expect([since.toSorted(), new Set(came()).size]).toEqual([all.toSorted(), came().length])
    await end()
  })

  test('ends with 3 once its key is revoked', async () => {
    const { client, key, ended } = await aTail()
    await service.client(key).keys.revokeCurrent()
    expect((await ended).code).toBe(3)
    expect((await client.agents.list()).status).toBe(401)
  })

  test('of the real program ends with 0 by an interrupt', async () => {
    const { key } = await service.owner()
    const launcher = join(import.meta.dirname, '../../src/bin/launcher/agentpay.mjs')
    const child = spawn(process.execPath, [launcher, 'events', 'tail'], {
      env: { PATH: process.env.PATH, HOME: '/nowhere', AGENTPAY_URL: service.url, AGENTPAY_KEY: key },
    })
    let err = ''
    child.stderr.on('data', piece => {
      err += piece
    })
    await until('the tail follows', () => err.includes(BEGUN))
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
  })
})
