import { expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { anOwnerWithAssistant } from '../../support/http/proposing.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

async function anotherPasskey(ownerId: string): Promise<string> {
  const id = newId('passkey')
  await service.sql(
    `insert into passkeys select (jsonb_populate_record(p, jsonb_build_object('id', $2::text, 'credential_id', $2::text))).*
       from passkeys p where owner_id = $1`,
    [ownerId, id],
  )
  return id
}

/** One proposal for each operation that a passkey signs, and whether it is signed in this test. */
async function signedOperations(client: TestClient, agentId: string, ownerId: string) {
  const from = await aWallet(client, 100)
  const { id: toWalletId } = await bodyOf(client.wallets.create({ body: { name: 'Savings' } }))
  const intent = await anIntent(client, agentId, { amountEuros: 20 })
  const person = await bodyOf(client.people.list({}))
  const personId = String(person.data[0]?.id)
  const expiresAt = new Date(Date.now() + 604_800_000).toISOString()
  return [
    [
      'transfers.create',
      true,
      { fromWalletId: from.id, toWalletId, amountEuros: 5, reference: '$toWalletId' },
    ],
    [
      'transfers.split',
      true,
      { fromWalletId: from.id, parts: [{ walletId: toWalletId, amountEuros: 2 }], reference: 'Parts' },
    ],
    [
      'mandates.create',
      true,
      {
        agentId,
        name: '$agentId',
        constraints: { perTransactionEuros: 5 },
        expiresAt,
      },
    ],
    ['policies.assign', true, { agentId, policyId: 'standard' }],
    ['intents.approve', true, { id: intent.id, comment: 'As agreed' }],
    ['passkeys.revoke', true, { id: await anotherPasskey(ownerId) }],
    ['people.update', false, { id: personId, name: '$role' }],
    ['gdpr.createDeletion', true, { subject: { type: 'person', id: personId } }],
  ] as const
}

test('a person applies any proposal of an assistant in the console, and signs it if the operation needs a passkey', async () => {
  const { client, agent, ownerId, propose } = await anOwnerWithAssistant(service)
  const { page, complaints } = await openAsOwner(client)
  for (const [operation, isSigned, input] of await signedOperations(client, agent.id, ownerId)) {
    const { id, error } = await propose(operation, input)
    expect([operation, error]).toEqual([operation, undefined])
    await page.goto(new URL(`/console/proposals/${id}`, page.url()).href)
    await page.getByRole('button', { name: /^Apply/ }).click()
    if (isSigned) await page.getByRole('button', { name: 'Sign with passkey' }).click()
    await page.locator('h1 .status', { hasText: 'applied' }).waitFor()
    expect([operation, (await bodyOf(client.proposals.get({ params: { id } }))).status]).toEqual([
      operation,
      'applied',
    ])
  }
  expect((await bodyOf(client.transfers.list({}))).data.map(({ reference }) => reference)).toEqual([
    'Parts',
    '$toWalletId',
  ])
  expect((await bodyOf(client.mandates.list({}))).data).toMatchObject([
    { name: '$agentId', status: 'active' },
  ])
  expect(complaints.filter(text => !text.includes('400'))).toEqual([])
}, 60_000)

test('what only a person at a device begins is not proposed', async () => {
  const { propose } = await anOwnerWithAssistant(service)
  for (const [operation, input] of [
    ['cliAuth.deny', { code: '4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' }],
    ['sessions.verify', { userCode: 'BCDF-GHJK' }],
    ['console.signOut', {}],
    ['passkeys.registerOptions', {}],
    ['passkeys.challenge', { purpose: 'enrolment' }],
  ] as const) {
    const { error } = await propose(operation, input)
    expect([operation, error.code]).toEqual([operation, 'not_proposable'])
  }
})
