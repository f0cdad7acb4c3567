import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type ApprovalProof, verifyApproval } from '../../../src/derive/client.ts'
import { anApprovedIntent, approvalsIn } from '../../support/control/approvals.ts'
import { intentsIn } from '../../support/control/intents.ts'
import { manipulated, ofThree } from '../../support/control/manipulated-proofs.ts'
import { keySet as severalKeySet } from '../../support/control/several-approvals.ts'
import { aBeneficiary, anAgent, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

const service = await startTestService({ own: true })
const { anApprover } = approvalsIn(service)
const { asAgent } = intentsIn(service)

const keySet = async () => (await service.http('GET', '/.well-known/jwks.json')).body

async function aProof() {
  const approver = await anApprover({ amountTolerancePercent: 10 })
  const { client, agent, person } = approver
  const beneficiary = await aBeneficiary(client)
  const intent = await anApprovedIntent(client, agent.id, person, { beneficiaryId: beneficiary.id })
  const proof = await bodyOf(client.intents.approval({ params: { id: intent.id } }))
  return { ...approver, intent, proof }
}

/** The proof with changed claims under the original signature. */
function altered({ jws, openings }: ApprovalProof, from: string, to: string): ApprovalProof {
  const [header, claims = '', signature] = jws.split('.')
  const text = Buffer.from(claims, 'base64url').toString()
  expect(text).toContain(from)
  return {
    jws: [header, Buffer.from(text.replace(from, to)).toString('base64url'), signature].join('.'),
    openings,
  }
}

describe('the proof of an approval', () => {
  test('a proof shows who approved what and when, with the public keys alone', async () => {
    const { intent, agent, person, proof, ownerId } = await aProof()
    expect(proof).toMatchObject({
      id: expect.stringMatching(/^approval_/),
      intentId: intent.id,
      approvedAt: intent.decidedAt,
      keptUntil: `${new Date(String(intent.decidedAt)).getUTCFullYear() + 10}-12-31`,
    })
    expect(verifyApproval(proof, await keySet())).toEqual({
      ownerId,
      mode: 'test',
      intentId: intent.id,
      agentId: agent.id,
      amountEuros: '25.00',
      largestEuros: '27.50',
      currency: 'EUR',
      payee: { name: 'Bäckerei Müller', iban: 'DE89370400440532013000', walletId: null, requestId: null },
      person: { id: person.personId, name: 'Ada Lovelace' },
      approvedAt: intent.decidedAt,
      approvals: [{ person: { id: person.personId, name: 'Ada Lovelace' }, approvedAt: intent.decidedAt }],
    })
  })

  test('falls with one digit of the amount changed, and under other keys', async () => {
    const { proof } = await aProof()
    const keys = await keySet()
    expect(() => verifyApproval(altered(proof, '"25.00"', '"26.00"'), keys)).toThrow(
      'The signature does not match',
    )
    expect(() => verifyApproval(proof, { keys: [] })).toThrow('The key set has no key')
  })

  test('is checked after our keys have been rotated, with the copy that was kept and with the new one', async () => {
    const { proof, intent } = await aProof()
    const kept = await keySet()
    await bodyOf(service.dash.signingKeys.rotate())
    for (const keys of [kept, await keySet()])
      expect(verifyApproval(proof, keys)).toMatchObject({ intentId: intent.id })
  })

  test('shows an agent its payee, but neither account nor person', async () => {
    const { client, agent, intent } = await aProof()
    const params = { id: intent.id }
    const own = await asAgent(client, agent.id)
    const proof = await bodyOf(own.intents.approval({ params }))
    expect(Object.keys(proof.openings).toSorted()).toEqual(['agentName', 'payee.name', 'purpose'])
    expect(verifyApproval(proof, await keySet())).toMatchObject({
      amountEuros: '25.00',
      payee: { name: 'Bäckerei Müller', iban: null },
      person: { id: null, name: null },
    })
    const claims = Buffer.from(String(proof.jws.split('.')[1]), 'base64url').toString()
    expect(claims + JSON.stringify(proof.openings)).not.toMatch(/Ada Lovelace|DE89370400440532013000|person_/)
    const other = await asAgent(client, (await anAgent(client)).id)
    expect(await other.intents.approval({ params })).toMatchObject({ status: 404, code: 'intent_not_found' })
    const stranger = await anApprover()
    expect(await stranger.client.intents.approval({ params })).toMatchObject({ status: 404 })
  })

  test('a proof still verifies after its names are erased', async () => {
    const { client, intent, proof } = await aProof()
    await service.sql('delete from approval_openings where id = $1', [proof.id])
    const forgotten = await bodyOf(client.intents.approval({ params: { id: intent.id } }))
    expect(forgotten).toEqual({ ...proof, openings: {} })
    expect(verifyApproval(forgotten, await keySet())).toMatchObject({
      amountEuros: '25.00',
      payee: { name: null, iban: null },
      person: { id: null, name: null },
    })
  })

  test('is never changed and never deleted', async () => {
    const { proof } = await aProof()
    const refused = /append-only|permission denied/
    for (const statement of [
      `update approvals set jws = 'x' where id = $1`,
      'delete from approvals where id = $1',
    ])
      await expect(service.sql(statement, [proof.id])).rejects.toThrow(refused)
  })

  test('exists for what a passkey has approved, and for nothing else', async () => {
    const { client, agent } = await anApprover({ autoApproveLimitEuros: 10 })
    const byKey = await anIntent(client, agent.id)
    await bodyOf(client.intents.approve({ params: { id: byKey.id } }))
    const byPolicy = await anIntent(client, agent.id, { amountEuros: 1 })
    const denied = await anIntent(client, agent.id)
    await bodyOf(client.intents.deny({ params: { id: denied.id }, body: { reason: 'No' } }))
    for (const { id } of [byKey, byPolicy, denied])
      expect(await client.intents.approval({ params: { id } })).toMatchObject({
        status: 404,
        code: 'approval_not_found',
      })
  })
})

/** Makes every network call fail in a process that is started with it. */
const NO_NETWORK = `
import net from 'node:net'
import dns from 'node:dns'
const refuse = () => { throw new Error('there is no network') }
net.Socket.prototype.connect = refuse
dns.lookup = refuse
dns.promises.lookup = refuse
globalThis.fetch = refuse`

/** Runs the example on a proof, in a process without a network and with nothing but the public keys. */
function exampleWith(keySet: unknown): (proof: ApprovalProof) => SpawnSyncReturns<string> {
  const folder = temporaryFolder()
  const write = (name: string, content: unknown): string => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const [keys, loader] = [write('jwks.json', keySet), write('no-network.mjs', NO_NETWORK)]
  const program = ['--import', loader, 'examples/approvals/check-approval.mjs']
  return proof =>
    spawnSync(process.execPath, [...program, write('approval.json', proof), keys], {
      encoding: 'utf8',
      env: {},
    })
}

describe('a process without a network and with nothing but our public keys', () => {
  test('checks the proof by the example, and refuses it with one digit of the amount changed', async () => {
    const { proof, intent } = await aProof()
    const check = exampleWith(await keySet())
    const { status, stdout } = check(proof)
    expect([status, stdout]).toEqual([0, expect.stringContaining(intent.id)])
    for (const said of ["'25.00'", "'27.50'", 'Bäckerei Müller', 'DE89370400440532013000', 'Ada Lovelace'])
      expect(stdout).toContain(said)
    const other = check(altered(proof, '"25.00"', '"25.01"'))
    expect([other.status, other.stdout]).toEqual([1, ''])
    const opening = { value: 'Mallory', salt: String(proof.openings['payee.name']?.salt) }
    expect(check({ ...proof, openings: { ...proof.openings, 'payee.name': opening } }).status).toBe(1)
  })

  test('checks a proof of several by the example, and lists each person', () => {
    const { status, stdout } = exampleWith(severalKeySet)(ofThree)
    expect(status).toBe(0)
    for (const said of ['Bookshop', 'Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'person_2', '09:12:00'])
      expect(stdout).toContain(said)
  })

  test.each(manipulated)('refuses a proof of several by the example with %s', (_, proof) => {
    const { status, stdout, stderr } = exampleWith(severalKeySet)(proof)
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^This proves nothing\. /)])
  })
})
