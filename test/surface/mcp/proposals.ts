import { describe, expect, test } from '@jest/globals'
import { Problem } from '../../../src/kernel/contract/problem.ts'
import { aBeneficiary, aKey, bodyOf, type TestClient } from '../../support/factories.ts'
import { http, startTestService } from '../../support/harness.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'
import { anOwnerWithAssistant } from '../../support/http/proposing.ts'
import type { Authenticator } from '../../support/identity/authenticator.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const sepaRail = () => {
  throw new Problem('not_configured')
}
const withoutRail = await startTestService({ outside: { sepaRail } })

const TEN = Array.from({ length: 10 })

describe('what an assistant may not do', () => {
  test('becomes a proposal, which a person applies once', async () => {
    const { client, agent, call } = await anOwnerWithAssistant(service)
    const proposed = await call('call_operation', { operation: 'agents.freeze', input: { id: agent.id } })
    const { proposal } = proposed.structuredContent
    expect([proposed.isError, proposal.status, proposal.summary]).toEqual([
      undefined,
      'open',
      expect.stringMatching(/Scout/),
    ])
    expect(textOf(proposed)).toContain(`/console/proposals/${proposal.id}`)
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('active')
    const answers = await Promise.all(
      TEN.map(() => client.proposals.apply({ params: { id: proposal.id }, body: {} })),
    )
    const first = await bodyOf(client.proposals.get({ params: { id: proposal.id } }))
    for (const answer of answers)
      if (answer.status === 200) expect(answer.body).toEqual(first)
      else expect(answer.code).toBe('proposal_applying')
    expect(await bodyOf(client.proposals.apply({ params: { id: proposal.id }, body: {} }))).toEqual(first)
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('frozen')
    const { data } = await bodyOf(client.events.list({ query: { requestId: proposal.id } }))
    expect(data.map(({ event }) => event)).toEqual(['agent.frozen'])
    expect(await bodyOf(client.proposals.get({ params: { id: proposal.id } }))).toMatchObject({
      status: 'applied',
      decidedBy: { type: 'key' },
      resultId: agent.id,
    })
  })

  test('is signed in the console where it lets more be spent', async () => {
    const { client, ownerId, agent, propose, ...owner } = await anOwnerWithAssistant(service)
    const [person] = await peopleInConsole(service, { client, ownerId, ...owner }, ['owner'])
    const { id: policyId } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const { id } = await propose('policies.replace', { id: policyId, name: 'Mine', dailyLimitEuros: 900 })
    const apply = (body: object) =>
      http(service.url, 'POST', `/canvas/proposals/${id}/apply`, { headers: person?.headers ?? {}, body })
    const refused = await apply({})
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'assertion_required'])
    const challenge = await linkedChallenge(person?.client as TestClient, refused)
    expect(challenge.sentence).toMatch(/Daily limit from € 50.00 to € 900.00/)
    const device = person?.device as Authenticator
    const applied = await apply({ webauthnAssertion: signed(challenge, device) })
    expect([applied.status, applied.body.status]).toEqual([200, 'applied'])
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    expect(policy.dailyLimitEuros).toBe(900)
  })

  test('says what would be another one', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const { id: policyId, version } = await bodyOf(
      client.policies.effective({ params: { agentId: agent.id } }),
    )
    const { id } = await propose('policies.replace', {
      id: policyId,
      name: 'Mine',
      dailyLimitEuros: 20,
      version,
    })
    const { changes, recordId, operation } = await bodyOf(client.proposals.get({ params: { id } }))
    expect([operation, recordId]).toEqual(['policies.replace', policyId])
    expect(changes).toContainEqual({ member: 'dailyLimitEuros', from: '50', to: '20' })
  })

  test('is simulated where it is a payment', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const { id } = await propose('intents.create', {
      agentId: agent.id,
      amountEuros: 20,
      merchant: 'Bookshop',
      purpose: 'A book',
    })
    expect((await bodyOf(client.proposals.get({ params: { id } }))).effect).toEqual({
      source: 'simulation',
      sentence: expect.stringMatching(/sent for approval/),
    })
    expect((await bodyOf(client.intents.list())).data).toEqual([])
    const { resultId } = await bodyOf(client.proposals.apply({ params: { id }, body: {} }))
    expect((await bodyOf(client.intents.list())).data).toMatchObject([{ id: resultId, amountEuros: 20 }])
  })

  test('is one proposal however often it is repeated, and at most twenty wait', async () => {
    const { agent, call, client, propose } = await anOwnerWithAssistant(service)
    const same = await Promise.all(TEN.map(() => propose('agents.freeze', { id: agent.id })))
    expect(new Set(same.map(({ id }) => id)).size).toBe(1)
    for (let n = 1; n < 20; n++) await propose('policies.create', { name: `Policy ${n}` })
    const result = await call('call_operation', { operation: 'policies.create', input: { name: 'More' } })
    expect(result.structuredContent.error.code).toBe('too_many_proposals')
    expect((await bodyOf(client.proposals.list({ query: { limit: 100 } }))).data).toHaveLength(20)
  })

  test.each([
    ['keys.create', { name: 'K', environment: 'sandbox', toolWrites: true }, 'unknown_operation'],
    ['proposals.apply', { id: 'proposal_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 'not_proposable'],
    ['policies.delete', { id: 'policy_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 'not_found'],
    ['policies.create', { name: '' }, 'invalid_request'],
    ['policies.create', { name: 'Card 4242 4242 4242 4242' }, 'invalid_request'],
    ['policies.create', { name: 'A', other: 1 }, 'invalid_request'],
    ['mandates.create', { webauthnAssertion: {} }, 'invalid_request'],
  ])('is refused as a proposal where it is none: %s %j', async (operation, input, code) => {
    const { client, call } = await anOwnerWithAssistant(service)
    const result = await call('call_operation', { operation, input })
    expect([result.isError, result.structuredContent.error.code]).toEqual([true, code])
    expect((await bodyOf(client.proposals.list())).data).toEqual([])
  })

  test('is about the person above where the path names a list below them', async () => {
    const { client, ownerId, propose, ...owner } = await anOwnerWithAssistant(service)
    const [person] = await peopleInConsole(service, { client, ownerId, ...owner }, ['owner'])
    const id = String(person?.personId)
    const proposed = await propose('channels.create', { id, type: 'email' })
    expect(proposed).toMatchObject({ status: 'open', summary: expect.stringContaining(`${person?.name}`) })
  })

  test('keeps no secret that would be sealed, and shows none to others', async () => {
    const { client, ownerId, agent, propose, ...owner } = await anOwnerWithAssistant(service)
    const [person] = await peopleInConsole(service, { client, ownerId, ...owner }, ['owner'])
    const id = String(person?.personId)
    const url = 'https://hooks.slack.com/services/T0/B0/a-secret-path'
    const provider = { name: 'Corp', issuer: 'https://id.example.com', clientId: 'pay' }
    for (const [operation, input] of [
      ['channels.create', { id, type: 'slack', url }],
      ['sso.create', { ...provider, clientSecret: 'a-secret-path' }],
      ['paymentTokens.charge', { id: agent.id, paymentToken: 'a-secret-path', amountEuros: 2 }],
    ] as const)
      expect(await propose(operation, input)).toMatchObject({ error: { code: 'not_proposable' } })
    const kept = await service.sql('select * from proposals where owner_id = $1', [ownerId])
    expect(JSON.stringify(kept)).not.toContain('a-secret-path')
    expect(await propose('sso.create', provider)).toMatchObject({ status: 'open' })
  })

  test('needs the scope canvas:write', async () => {
    const { client } = await service.owner()
    const { key } = await aKey(client, { scopes: ['agents:read'] })
    const { call } = await anAssistant(service.url, String(key))
    const result = await call('call_operation', { operation: 'policies.create', input: { name: 'A' } })
    expect(result.structuredContent.error.code).toBe('missing_scope')
  })
})

describe('a proposal', () => {
  test('is outdated once the record that it is about has changed', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const params = { id: agent.id }
    const { id } = await propose('agents.freeze', params)
    await bodyOf(client.agents.freeze({ params, body: {} }))
    await bodyOf(client.agents.unfreeze({ params, body: {} }))
    const { status, code } = await client.proposals.apply({ params: { id }, body: {} })
    expect([status, code]).toEqual([409, 'proposal_outdated'])
    expect((await bodyOf(client.agents.get({ params }))).status).toBe('active')
    expect((await client.proposals.apply({ params: { id }, body: {} })).code).toBe('proposal_over')
  })

  test('is outdated once the policy of its agent has changed', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const book = { agentId: agent.id, amountEuros: 20, merchant: 'Bookshop', purpose: 'A book' }
    const { id } = await propose('intents.create', book)
    const { id: policyId } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    await bodyOf(
      client.policies.replace({ params: { id: policyId }, body: { name: 'Other', dailyLimitEuros: 30 } }),
    )
    expect((await client.proposals.apply({ params: { id }, body: {} })).code).toBe('proposal_outdated')
    expect((await bodyOf(client.intents.list())).data).toEqual([])
  })

  test('can be applied for fifteen minutes', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const params = { id: (await propose('agents.freeze', { id: agent.id })).id }
    await bodyOf(client.sandbox.advance({ body: { seconds: 15 * 60 + 1 } }))
    expect(await client.proposals.apply({ params, body: {} })).toMatchObject({
      status: 410,
      code: 'proposal_expired',
    })
    expect((await bodyOf(client.proposals.get({ params }))).status).toBe('expired')
    const { data } = await bodyOf(client.events.list({ query: { event: 'canvas.proposal_expired' } }))
    expect(data).toMatchObject([{ data: { proposalId: params.id } }])
  })

  test('is dismissed, and then applied no more', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const params = { id: (await propose('agents.freeze', { id: agent.id })).id }
    expect((await bodyOf(client.proposals.dismiss({ params }))).status).toBe('dismissed')
    expect((await client.proposals.apply({ params, body: {} })).code).toBe('proposal_over')
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('active')
  })

  test('is not there for another owner', async () => {
    const { agent, propose } = await anOwnerWithAssistant(service)
    const other = await service.owner()
    const params = { id: (await propose('agents.freeze', { id: agent.id })).id }
    for (const answer of [
      await other.client.proposals.get({ params }),
      await other.client.proposals.apply({ params, body: {} }),
      await other.client.proposals.dismiss({ params }),
    ])
      expect([answer.status, answer.code]).toEqual([404, 'proposal_not_found'])
  })

  test('is applied with the rights of who applies it', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(service)
    const { id } = await propose('agents.freeze', { id: agent.id })
    const { key } = await aKey(client, { scopes: ['canvas:apply', 'canvas:read'] })
    const refused = await service.client(String(key)).proposals.apply({ params: { id }, body: {} })
    expect([refused.status, refused.code, refused.error]).toEqual([
      409,
      'proposal_refused',
      expect.stringContaining('missing_scope'),
    ])
    expect(await bodyOf(client.proposals.get({ params: { id } }))).toMatchObject({
      status: 'open',
      refusal: { code: 'missing_scope' },
    })
    expect((await bodyOf(client.proposals.apply({ params: { id }, body: {} }))).status).toBe('applied')
  })

  test('is open, and says why, where the service lacks what the operation needs', async () => {
    const { client, agent, propose } = await anOwnerWithAssistant(withoutRail)
    const { id: beneficiaryId } = await aBeneficiary(client)
    const payment = { fromWalletId: agent.walletId, beneficiaryId, amountEuros: 1 }
    const { id } = await propose('transfers.create', payment)
    const refused = await client.proposals.apply({ params: { id }, body: {} })
    expect([refused.code, refused.error]).toEqual([
      'proposal_refused',
      expect.stringContaining('sepa_rail_missing'),
    ])
    expect(await bodyOf(client.proposals.get({ params: { id } }))).toMatchObject({
      status: 'open',
      refusal: { code: 'sepa_rail_missing' },
    })
  })

  /** An applied payment after a crash before the commit. */
  async function aKilledApplication(begunAt: Date) {
    const owner = await anOwnerWithAssistant(service)
    const { client, agent, propose } = owner
    const book = { agentId: agent.id, amountEuros: 4, merchant: 'Bookshop', purpose: 'A book' }
    const { id } = await propose('intents.create', book)
    await bodyOf(client.proposals.apply({ params: { id }, body: {} }))
    const applier = {
      type: 'key',
      id: 'key_1',
      name: null,
      scopes: ['intents:write'],
      sessionId: null,
      address: null,
    }
    const attempt = { applier, webauthnAssertion: null, key: id, begunAt: begunAt.toISOString() }
    await service.sql(
      `update proposals set status = 'applying', decided_at = null, result_id = null, due_at = now(),
         attempt = $2 where id = $1`,
      [id, attempt],
    )
    return { client, id }
  }

  test('a proposal with an unknown outcome is resolved by the sweep, and done once', async () => {
    const { client, id } = await aKilledApplication(new Date())
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    const { status, resultId } = await bodyOf(client.proposals.get({ params: { id } }))
    const { data } = await bodyOf(client.intents.list())
    expect([status, data.map(intent => intent.id)]).toEqual(['applied', [resultId]])
  })

  test.each(['the sweep', 'a person who applies it'])(
    'is not done under a key that is forgotten by now, by %s',
    async by => {
      const { client, id } = await aKilledApplication(new Date(Date.now() - 86_400_000))
      await service.sql('delete from idempotency_keys where key = $1', [id])
      const params = { id }
      if (by === 'the sweep') await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
      else expect((await client.proposals.apply({ params, body: {} })).code).toBe('proposal_over')
      expect(await bodyOf(client.proposals.get({ params }))).toMatchObject({
        status: 'failed',
        refusal: { code: 'outcome_unknown' },
      })
      expect((await bodyOf(client.intents.list())).data).toHaveLength(1)
    },
  )
})
