import { chmodSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { runCommand, runProgram } from '../support/command.ts'
import { aFundedAgent, aToken, bodyOf } from '../support/factories.ts'
import { aConfiguration } from '../support/identity/key-files.ts'
import { aNewMachine, service, signIn } from './new-machine.ts'

describe('a key file', () => {
  test('that others may read is not used, and doctor says what to do', async () => {
    const made = await aNewMachine()
    await signIn(made)
    chmodSync(made.machine.path, 0o644)
    const { code, err } = await runCommand(['whoami'], { env: made.machine.env })
    expect([code, err]).toEqual([3, expect.stringContaining(`chmod 600 ${made.machine.path}`)])
    const env = { ...made.machine.env, AGENTPAY_URL: service.url, AGENTPAY_KEY: made.owner.key }
    expect((await runCommand(['whoami'], { env })).code).toBe(0)
    expect((await findings(env)).get('Key file')).toMatchObject({ state: 'bad' })
  })

  test('is reported if it is damaged, and not replaced', async () => {
    const machine = aConfiguration()
    machine.write('{"current":')
    const { code, err } = await runCommand(['whoami'], { env: machine.env })
    expect([code, err]).toEqual([3, expect.stringContaining('is damaged. Delete it')])
  })
})

async function findings(env: Readonly<Record<string, string>>) {
  const { out } = await runProgram(['doctor'], { env })
  const all: { about: string; state: string; found: string; remedy: string | null }[] = JSON.parse(out)
  return new Map(all.map(finding => [finding.about, finding]))
}

const servers: Server[] = []
afterAll(() => Promise.all(servers.map(server => new Promise(resolve => server.close(resolve)))))

/** A service that answers everything with this, as the wrong one or one with a wrong clock does. */
async function aServiceWith(headers: Record<string, string>, body: object = { checks: { temporal: 'ok' } }) {
  const server = createServer((_, response) => {
    response.sendDate = headers.date === undefined
    const type = { 'content-type': 'application/json', connection: 'close' }
    response.writeHead(200, { ...type, ...headers }).end(JSON.stringify({ version: '0.0.0', ...body }))
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('doctor', () => {
  test('says that something else answers at the address', async () => {
    const url = await aServiceWith({ 'content-type': 'text/html' })
    expect((await findings({ AGENTPAY_URL: url })).get('Address')).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('not JSON'),
    })
  })

  test('finds address, clock, version and key of a machine that is well', async () => {
    const made = await aNewMachine()
    await signIn(made)
    const { code, out } = await runCommand(['doctor'], {
      env: { ...made.machine.env, NO_COLOR: '1' },
      columns: 200,
    })
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`✓ Address: ${service.url} (profile default) answers`),
    ])
    for (const line of ['✓ Clock: agrees', '✓ Version: ', '✓ Key: ', '! Temporal: '])
      expect(out).toContain(line)
    expect(out).not.toContain(made.machine.read().profiles.default?.key)
  })

  test('says what is wrong and what to do: no service, a key that is over, no key', async () => {
    const nobody = { AGENTPAY_URL: 'http://127.0.0.1:1', AGENTPAY_KEY: 'sk_test_1' }
    const gone = await runProgram(['doctor'], { env: nobody })
    expect([gone.code, gone.out]).toEqual([1, expect.stringContaining('nothing is listening there')])
    const over = await findings({ AGENTPAY_URL: service.url, AGENTPAY_KEY: 'sk_sandbox_overandover' })
    expect(over.get('Key')).toMatchObject({ state: 'bad', remedy: expect.stringContaining('agentpay login') })
    const without = await findings({ AGENTPAY_URL: service.url })
    expect(without.get('Key')).toMatchObject({ state: 'bad', found: 'none for this address' })
    expect((await findings({})).get('Address')).toMatchObject({ state: 'bad' })
  })

  test('tells an agent token that is valid from one that is over, and from no token', async () => {
    const { client } = await service.owner()
    const { id } = await aFundedAgent(client)
    const { id: tokenId, token } = await aToken(client, id)
    const keyIs = async (key: string) =>
      (await findings({ AGENTPAY_URL: service.url, AGENTPAY_KEY: key })).get('Key')
    expect(await keyIs(String(token))).toMatchObject({
      state: 'good',
      found: 'an agent token, from AGENTPAY_KEY',
    })
    await bodyOf(client.agentTokens.revoke({ params: { id, tokenId } }))
    const remedy = expect.stringContaining('agentpay agent-tokens create')
    for (const key of [String(token), 'nonsense'])
      expect(await keyIs(key)).toMatchObject({ state: 'bad', remedy })
  })

  test.each([
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ])('finds a clock that is %s that of the service', async (way, byMs) => {
    const service = await aServiceWith({ date: new Date(Date.now() - byMs).toUTCString() })
    const found = (await findings({ AGENTPAY_URL: service, AGENTPAY_KEY: 'at_1' })).get('Clock')
    expect(found).toMatchObject({
      state: 'bad',
      found: expect.stringContaining(`${way} that of the service`),
    })
  })

  test('finds a Temporal that the service does not reach, and a service of another version', async () => {
    const service = await aServiceWith({}, { version: '99.0.0', checks: { temporal: 'unreachable' } })
    const found = await findings({ AGENTPAY_URL: service, AGENTPAY_KEY: 'at_1' })
    expect(found.get('Temporal')).toMatchObject({
      state: 'bad',
      remedy: expect.stringContaining('TEMPORAL_ADDRESS'),
    })
    expect(found.get('Version')).toMatchObject({ state: 'bad', found: expect.stringContaining('99.0.0') })
  })
})
