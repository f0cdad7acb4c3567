import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { verifySigned } from '../../../src/derive/verify-signed.ts'
import { canonicalJson } from '../../../src/values/canonical-json.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { inDays, mandatesIn } from '../../support/control/mandates.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { enrolled, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent, aMandate, signedMandate, eventsOf } = mandatesIn(service, service.url)

type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>

const create = async ({ client }: Subject, body: Awaited<ReturnType<typeof signedMandate>>) => {
  const { status, code } = await client.mandates.create({ body })
  return [status, code]
}

const mandatesOf = async ({ client }: Subject) => (await bodyOf(client.mandates.list({}))).data

describe('a mandate that is made', () => {
  test('is the whole record, with the person and the passkey that have signed it', async () => {
    const owner = await anOwnerWithAgent()
    const constraints = {
      perDayEuros: 70,
      count: 7,
      merchants: ['Bookshop'],
      mccs: ['5942'],
      countries: ['DE'],
    }
    const mandate = await aMandate(owner, constraints)
    expect(mandate).toEqual({
      id: expect.stringMatching(/^mandate_[0-9a-z]{26}$/),
      ownerId: owner.ownerId,
      mode: 'test',
      agentId: owner.id,
      name: 'Books',
      status: 'active',
      constraints: { perTransactionEuros: null, perMonthEuros: null, totalEuros: null, ...constraints },
      heldEuros: 0,
      spentEuros: 0,
      dayLeftEuros: 70,
      monthLeftEuros: null,
      totalLeftEuros: null,
      countLeft: 7,
      expiresAt: mandate.expiresAt,
      suspendedBecause: null,
      comment: null,
      endedAt: null,
      signedBy: { personId: owner.signer.personId, passkeyId: owner.signer.passkeyId },
      jws: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      workflowId: `mandate/${mandate.id}`,
      createdAt: mandate.createdAt,
      updatedAt: mandate.createdAt,
    })
    expect(await bodyOf(owner.client.mandates.get({ params: mandate }))).toEqual(mandate)
    expect(await eventsOf(mandate.id)).toEqual(['mandate.created'])
  })

  test('is proved by a kept copy of our keys, and names what the device has signed', async () => {
    const owner = await anOwnerWithAgent()
    const constraints = { totalEuros: 12.5, merchants: ['Bookshop'] }
    const mandate = await aMandate(owner, constraints)
    const keys = await bodyOf(owner.client.signingKeys.jwks())
    const claims = verifySigned(mandate.jws, keys, 'mandate') as Record<string, unknown>
    const stated = {
      perTransactionEuros: null,
      perDayEuros: null,
      perMonthEuros: null,
      totalEuros: '12.50',
      count: null,
      merchants: ['Bookshop'],
      mccs: null,
      countries: null,
    }
    const { signer } = owner
    expect(claims).toMatchObject({
      ownerId: owner.ownerId,
      mode: 'test',
      mandateId: mandate.id,
      agentId: owner.id,
      personId: signer.personId,
      passkeyId: signer.passkeyId,
      constraints: stated,
      expiresAt: mandate.expiresAt,
      statement: {
        kind: 'mandate',
        subject: { agentId: owner.id, constraints: stated, expiresAt: mandate.expiresAt },
      },
    })
    const { clientDataJSON } = claims.assertion as { clientDataJSON: string }
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    expect(challenge).toBe(createHash('sha256').update(canonicalJson(claims.statement)).digest('base64url'))
    expect(() => verifySigned(mandate.jws, keys, 'approval')).toThrow(/not a statement of the type approval/)
    const [head, text, seal] = mandate.jws.split('.')
    const other = Buffer.from(String(text), 'base64url').toString().replaceAll('12.50', '92.50')
    const forged = [head, Buffer.from(other).toString('base64url'), seal].join('.')
    expect(() => verifySigned(forged, keys, 'mandate')).toThrow(/does not match this text/)
  })

  test('says in its challenge what the person signs', async () => {
    const owner = await anOwnerWithAgent()
    const expiresAt = inDays(3)
    const body = {
      agentId: owner.id,
      constraints: { perMonthEuros: 1_500, merchants: ['Bookshop'] },
      expiresAt,
    }
    const { sentence } = await bodyOf(owner.client.mandates.options({ body }))
    expect(sentence).toBe(
      `Let the agent ${owner.id} pay without asking until ${formatMinute(new Date(expiresAt))}: at most € 1,500.00 a month; only these merchants: “Bookshop”.`,
    )
  })
})

describe('no mandate is made', () => {
  test('of anything but what was signed', async () => {
    const owner = await anOwnerWithAgent()
    const other = await aFundedAgent(owner.client)
    const changes = [
      { constraints: { totalEuros: 24.01 } },
      { constraints: { totalEuros: 24, perDayEuros: 24 } },
      { constraints: { totalEuros: 24, merchants: ['Bookshop'] } },
      { expiresAt: inDays(31) },
      { agentId: other.id },
    ]
    for (const change of changes) {
      const body = { ...(await signedMandate(owner, { totalEuros: 24 })), ...change }
      expect(await create(owner, body)).toEqual([400, 'statement_outdated'])
    }
    expect(await mandatesOf(owner)).toEqual([])
  })

  test('twice by one signature, however many ask at once', async () => {
    const owner = await anOwnerWithAgent()
    const body = await signedMandate(owner, { totalEuros: 24 })
    const answers = await times(5, () => owner.client.mandates.create({ body }))
    expect(statusCounts(answers)).toEqual({ 201: 1, 400: 4 })
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'challenge_used']))
    expect(await mandatesOf(owner)).toHaveLength(1)
  })

  test('is refused for signers who may not approve intents, or belong to another owner', async () => {
    const [owner, stranger] = [await anOwnerWithAgent(), await anOwnerWithAgent()]
    const by = owner.signer
    const viewer = await enrolled(service, owner, { role: 'viewer', by })
    const byViewer = await signedMandate({ ...owner, signer: viewer }, { totalEuros: 24 })
    expect(await create(owner, byViewer)).toEqual([403, 'insufficient_role'])
    const byStranger = await signedMandate({ ...owner, signer: stranger.signer }, { totalEuros: 24 })
    expect(await create(owner, byStranger)).toEqual([401, 'assertion_invalid'])
    expect(await mandatesOf(owner)).toEqual([])
    const approver = await enrolled(service, owner, { role: 'approver', by })
    const { signedBy } = await aMandate({ ...owner, signer: approver }, { totalEuros: 24 })
    expect(signedBy.personId).toBe(approver.personId)
  })

  test('without a finger or a face, or on another page', async () => {
    const owner = await anOwnerWithAgent()
    const { webauthnAssertion: _, ...members } = await signedMandate(owner, { totalEuros: 24 })
    for (const manner of [{ isVerified: false }, { origin: 'https://evil.example' }, { crossOrigin: true }]) {
      const challenge = await bodyOf(owner.client.mandates.options({ body: members }))
      const webauthnAssertion = signed(challenge, owner.signer.device, manner)
      expect(await create(owner, { ...members, webauthnAssertion })).toEqual([401, 'assertion_invalid'])
    }
    expect(await mandatesOf(owner)).toEqual([])
  })

  test('is refused for an agent that is frozen, deleted or another owner’s', async () => {
    const owner = await anOwnerWithAgent()
    const { client, id } = owner
    const body = await signedMandate(owner, { totalEuros: 24 })
    await bodyOf(client.agents.freeze({ params: { id }, body: {} }))
    expect(await create(owner, body)).toEqual([400, 'agent_not_active'])
    await bodyOf(client.agents.unfreeze({ params: { id } }))
    expect(await create(owner, body)).toEqual([400, 'challenge_used'])
    const foreign = {
      agentId: (await anOwnerWithAgent()).id,
      constraints: { totalEuros: 24 },
      expiresAt: inDays(1),
    }
    expect((await client.mandates.options({ body: foreign })).code).toBe('agent_not_found')
    const last = await signedMandate(owner, { totalEuros: 24 })
    await bodyOf(client.agents.delete({ params: { id } }))
    expect(await create(owner, last)).toEqual([404, 'agent_not_found'])
  })

  test.each([
    ['ends in the past', { expiresAt: inDays(-1) }, 'expires_too_early'],
    ['ends in more than a year', { expiresAt: inDays(367) }, 'expires_too_late'],
  ])('that %s', async (_, members, code) => {
    const { client, id: agentId } = await anOwnerWithAgent()
    const body = { agentId, constraints: { totalEuros: 24 }, ...members }
    expect(await client.mandates.options({ body })).toMatchObject({ status: 400, code })
  })

  test.each([
    ['no limit of money', { count: 3, merchants: ['Bookshop'] }, 'set at least one limit'],
    ['a limit of nothing', { totalEuros: 0 }, 'must be greater than 0'],
    ['a merchant that stands for everybody', { totalEuros: 1, merchants: ['*'] }, 'a lone asterisk'],
    ['a category that is none', { totalEuros: 1, mccs: ['42'] }, 'four digits'],
    ['a limit that is not known', { totalEuros: 1, perWeekEuros: 2 }, 'perWeekEuros'],
  ])('with %s', async (_, constraints, words) => {
    const { client, id: agentId } = await anOwnerWithAgent()
    const body = { agentId, constraints, expiresAt: inDays(1) }
    const { status, error } = await client.mandates.options({ body })
    expect([status, error]).toEqual([400, expect.stringContaining(words)])
  })

  test('is refused while twenty mandates are open', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 24 })
    const body = await signedMandate(owner, { totalEuros: 24 })
    await service.sql(
      `insert into mandates select (m).* from (
        select jsonb_populate_record(m, jsonb_build_object('id', 'mandate_' || n)) as m
        from mandates m, generate_series(1, 19) as n where m.id = $1) as copies`,
      [mandate.id],
    )
    expect(await create(owner, body)).toEqual([400, 'too_many_mandates'])
    await bodyOf(owner.client.mandates.revoke({ params: mandate, body: {} }))
    expect((await create(owner, await signedMandate(owner, { totalEuros: 24 })))[0]).toBe(201)
  })
})

describe('in the console', () => {
  test('an owner creates a mandate with their own passkey only', async () => {
    const owner = await anOwnerWithAgent()
    const { personId } = owner.signer
    const { client } = await signedInTo(service, owner, { personId })
    const other = await enrolled(service, owner, { by: owner.signer })
    const asOther = await signedMandate({ ...owner, signer: other }, { totalEuros: 24 })
    expect((await client.mandates.create({ body: asOther })).status).toBeGreaterThanOrEqual(400)
    const { signedBy } = await aMandate({ ...owner, client }, { totalEuros: 24 })
    expect(signedBy.personId).toBe(personId)
    expect(await mandatesOf(owner)).toHaveLength(1)
  })

  test.each(['approver', 'viewer'] as const)('an %s reads mandates, and changes none', async role => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 24 })
    const { client } = await signedInTo(service, owner, { role })
    expect((await bodyOf(client.mandates.list({}))).data).toEqual([mandate])
    expect(await client.mandates.revoke({ params: mandate, body: {} })).toMatchObject({
      code: 'missing_scope',
    })
  })
})
