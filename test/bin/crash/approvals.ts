import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { verifyApproval } from '../../../src/derive/client.ts'
import { signatureOver } from '../../support/control/approvals.ts'
import { aFundedAgent, anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { aPerson, enrol } from '../../support/identity/people.ts'
import { type KillableApi, killableApi } from '../../support/processes/killable-api.ts'
import { testKills } from '../../support/tier.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

let api!: KillableApi
beforeAll(async () => {
  api = await killableApi({ PUBLIC_URL: 'http://localhost' })
})
afterAll(() => api.stop())

async function aSigner() {
  const key = await api.owner()
  const client = () => api.client(key)
  const { id: ownerId } = await bodyOf(client().customers.me())
  const device = new Authenticator({ origin: 'http://localhost' })
  await enrol(client(), (await aPerson(api, { ownerId })).id, device)
  return { client, ownerId, device }
}

async function aSignedIntent() {
  const { client, device } = await aSigner()
  const agent = await aFundedAgent(client())
  const { id } = await anIntent(client(), agent.id)
  return { client, params: { id }, signature: await signatureOver(client(), id, { device }) }
}

/** Two people must approve, and one has. */
async function aHalfApprovedIntent() {
  const { client, ownerId, device: first } = await aSigner()
  const device = new Authenticator({ origin: 'http://localhost' })
  await enrol(client(), (await aPerson(api, { ownerId })).id, device, { device: first })
  const step = { aboveEuros: 0, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const
  const agent = await anAgentUnder(client(), { approval: [step] })
  const params = { id: (await anIntent(client(), agent.id)).id }
  const webauthnAssertion = await signatureOver(client(), params.id, { device: first })
  await bodyOf(client().intents.approve({ params, body: { webauthnAssertion } }))
  return { client, params, signature: await signatureOver(client(), params.id, { device }) }
}

const traces = async (id: string) => {
  const [row] = await api.sql<{ status: string; proofs: number; events: number; used: number }>(
    `select status, (select count(*)::int from approvals where intent_id = $1) as proofs,
       (select count(*)::int from events where event = 'intent.approved' and resource_id = $1) as events,
       (select count(*)::int from passkey_challenges where subject_id = $1 and used_at is not null) as used
     from intents where id = $1`,
    [id],
  )
  return row
}

/** Kills the process while an approval waits for rows locked by this statement. */
async function leavesNothing(locked: string, signed = aSignedIntent): Promise<void> {
  const { client, params, signature } = await signed()
  const before = await traces(params.id)
  const body = { webauthnAssertion: signature }
  const approve = () => client().intents.approve({ params, body, idempotencyKey: 'approve' })
  const letGo = await api.hold(locked, [params.id])
  await api.killDuring(approve, api.isWaiting)
  await letGo()
  expect(await traces(params.id)).toEqual(before)
  expect(before).toMatchObject({ status: 'created', proofs: 0, events: 0 })

  const approved = await bodyOf(approve())
  expect(approved).toMatchObject({ status: 'approved', decidedBy: { type: 'console' } })
  expect(await bodyOf(approve())).toEqual(approved)
  const other = await client().intents.approve({ params, body })
  expect(other).toMatchObject({ status: 400, code: 'challenge_used' })
  expect(await traces(params.id)).toEqual({
    ...{ status: 'approved', proofs: 1, events: 1 },
    used: Number(before?.used) + 1,
  })
  const proof = await bodyOf(client().intents.approval({ params }))
  const keys = await (await fetch(`${api.url()}/.well-known/jwks.json`)).json()
  expect(verifyApproval(proof, keys as Parameters<typeof verifyApproval>[1])).toMatchObject({
    intentId: params.id,
    amountEuros: '25.00',
  })
  await expectVerifiedLedger(client())
}

describe('a kill while an approval waits for', () => {
  const outcome = 'leaves nothing, and the same signature approves once afterwards'
  testKills({
    [`the intent ${outcome}`]: () => leavesNothing('select from intents where id = $1 for update'),
    [`the challenge ${outcome}`]: () =>
      leavesNothing('select from passkey_challenges where subject_id = $1 for update'),
    [`the intent, as the second of two people, ${outcome}`]: () =>
      leavesNothing('select from intents where id = $1 for update', aHalfApprovedIntent),
  })
})
