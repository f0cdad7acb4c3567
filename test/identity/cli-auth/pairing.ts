import { describe, expect, test } from '@jest/globals'
import { allScopeNames, roleScopes } from '../../../src/kernel/contract/scopes.ts'
import { bodyOf } from '../../support/factories.ts'
import { aDoorkeeper, approvePairing, aTerminal } from '../../support/identity/pairing.ts'
import { signed } from '../../support/identity/people.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'
import { anApprovedTerminal, anyone, ask, aWaitingTerminal, service } from './service.ts'

describe('a terminal', () => {
  test('gets its key once, after a person has approved with a passkey, in whatever process it asks', async () => {
    const { owner, person, terminal } = await aWaitingTerminal()
    expect(await ask(terminal)).toMatchObject({ status: 400, error: 'authorization_pending' })
    const approved = await approvePairing(person.console.client, person.device, terminal.code)
    expect([approved.status, approved.body]).toMatchObject([
      200,
      { status: 'approved', pairingCode: terminal.pairingCode, personId: person.personId, scopes: null },
    ])
    expect(await traceOf(service, approved)).toMatchObject({ events: ['cli.approved'] })
    const answer = await ask(terminal)
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { name: 'Ada’s laptop', environment: 'sandbox', key: expect.stringMatching(/^sk_sandbox_\w{43}$/) },
    ])
    expect(await traceOf(service, answer)).toMatchObject({ events: ['key.created', 'cli.paired'] })
    const { key, id } = answer.body
    const own = service.client(String(key))
    expect((await bodyOf(own.customers.me())).id).toBe(owner.ownerId)
    expect((await bodyOf(own.keys.get({ params: { id } }))).scopes).toEqual(allScopeNames)
    const [event] = (await bodyOf(owner.client.events.list({ query: { event: 'cli.paired' } }))).data
    expect(event?.data).toMatchObject({ keyId: id, personId: person.personId, deviceName: 'Ada’s laptop' })
    expect(await tablesWith(service, String(key))).toEqual([])
    expect(await tablesWith(service, terminal.code)).toEqual([])
    expect(await ask(terminal)).toMatchObject({ status: 400, error: 'invalid_grant', code: 'invalid_grant' })
  })

  test('that asks fifty times at one instant gets one key', async () => {
    const { owner, terminal } = await anApprovedTerminal()
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(terminal)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ error }) => error === 'invalid_grant')).toHaveLength(49)
    const keys = (await bodyOf(owner.client.keys.list())).data.filter(({ name }) => name === 'Ada’s laptop')
    expect(keys).toHaveLength(1)
  })

  test('gets no more than the role of the person, and what was signed says so', async () => {
    const owner = await service.owner()
    const by = await aDoorkeeper(service, owner)
    const person = await aDoorkeeper(service, owner, { role: 'viewer', by })
    const terminal = await aTerminal(anyone, 'Viewer’s laptop')
    const { client } = person.console
    const challenge = await bodyOf(client.cliAuth.challenge({ body: { code: terminal.code } }))
    expect(challenge.sentence).toContain(
      `the command line on “Viewer’s laptop”, which shows the code ${terminal.pairingCode},`,
    )
    expect(challenge.sentence).toMatch(/with these scopes: .*agents:read/)
    expect(challenge.sentence).not.toContain('agents:write')
    expect(JSON.stringify(challenge.statement)).not.toContain('laptop')
    const webauthnAssertion = signed(challenge, person.device)
    await bodyOf(client.cliAuth.approve({ body: { code: terminal.code, webauthnAssertion } }))
    const { key, scopes: given } = await bodyOf(ask(terminal))
    expect(given).not.toContain('agents:write')
    const own = service.client(String(key))
    expect((await own.agents.list()).status).toBe(200)
    expect(await own.agents.create({ body: { name: 'Reader' } })).toMatchObject({ code: 'missing_scope' })
  })

  test('that asks to change things by tools gets it only where the person has signed that', async () => {
    const owner = await service.owner()
    const person = await aDoorkeeper(service, owner)
    const { client } = person.console
    const begin = async (toolWrites?: boolean) => {
      const terminal = await aTerminal(anyone, 'A laptop', toolWrites)
      const challenge = await bodyOf(client.cliAuth.challenge({ body: { code: terminal.code } }))
      return { terminal, challenge, webauthnAssertion: signed(challenge, person.device) }
    }
    const [asking, other] = [await begin(true), await begin()]
    expect(asking.challenge.sentence).toMatch(/and let assistants change things with it\.$/)
    expect(other.challenge.sentence).not.toContain('assistants')
    const body = { code: asking.terminal.code, webauthnAssertion: asking.webauthnAssertion }
    expect(await bodyOf(client.cliAuth.approve({ body }))).toMatchObject({ toolWrites: true })
    const key = await bodyOf(ask(asking.terminal))
    expect(key.toolWrites).toBe(true)
    expect(await bodyOf(owner.client.keys.get({ params: { id: key.id } }))).toMatchObject({
      toolWrites: true,
    })
    await service.sql('update sessions set tool_writes = true where pairing_code = $1', [
      other.terminal.pairingCode,
    ])
    const changed = { code: other.terminal.code, webauthnAssertion: other.webauthnAssertion }
    expect(await client.cliAuth.approve({ body: changed })).toMatchObject({
      code: 'statement_outdated',
    })
  })

  test('gets nothing where the person is removed before it asks', async () => {
    const owner = await service.owner()
    const by = await aDoorkeeper(service, owner)
    const person = await aDoorkeeper(service, owner, { role: 'approver', by })
    const terminal = await aTerminal(anyone)
    await bodyOf(approvePairing(person.console.client, person.device, terminal.code))
    await bodyOf(by.console.client.people.remove({ params: { id: person.personId } }))
    expect(await ask(terminal)).toMatchObject({ status: 400, error: 'access_denied' })
  })

  test('gets no owner’s key where the person is made a viewer before it asks', async () => {
    const { owner, person, terminal } = await anApprovedTerminal()
    const values = [owner.ownerId, person.personId]
    await service.sql(`update people set role = 'viewer' where owner_id = $1 and id = $2`, values)
    const { scopes: given } = await bodyOf(ask(terminal))
    expect([...given].sort()).toEqual([...roleScopes.viewer].sort())
  })

  test('gets nothing while the account is suspended', async () => {
    const { owner, terminal } = await anApprovedTerminal()
    const suspend = (status: 'suspended' | 'active') =>
      bodyOf(service.dash.customers.update({ params: { id: owner.ownerId }, body: { status } }))
    await suspend('suspended')
    expect(await ask(terminal)).toMatchObject({ status: 400, error: 'access_denied' })
    await suspend('active')
    expect((await ask(terminal)).status).toBe(201)
  })
})
