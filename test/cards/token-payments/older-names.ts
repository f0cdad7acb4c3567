import { expect, test } from '@jest/globals'
import { readMigrations } from '../../../src/migrations/index.ts'
import { aPayingCard } from '../../support/cards/network.ts'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayer, balanceOf, begun, network, service, transactionsOf, usesOf } from './service.ts'

const owner = await service.owner()
const { client, ownerId } = owner

/** Names the stored members and references of the owner's payments as version 0.7.0 did. */
const AS_BEFORE = `
update card_authorizations set facts = replace(replace(replace(replace(replace(facts::text, '"requests":', '"asks":'),
  '"increment":', '"ask":'), '"requested":', '"asked":'), '"initiated":', '"begun":'),
  '"initiatedOriginal":', '"begunOriginal":')::jsonb - 'initiatedMarginPercent' where owner_id = $1;
update ledger_holds set reference_type = 'card_ask' where owner_id = $1 and reference_type = 'card_increment';
update reservations set cause_type = replace(replace(cause_type, 'card_increment', 'card_ask'), 'card_unauthorized', 'card_alone')
where owner_id = $1`

const statementsOf = (text: string): string[] => text.split(';').filter(one => one.trim() !== '')

async function migrate(): Promise<void> {
  const migration = readMigrations().find(({ name }) => name.startsWith('0039'))
  for (const statement of statementsOf(migration?.text ?? '')) await service.sql(statement)
}

/** Makes a payment one by a shared token, for a price that was converted with a margin of two percent. */
const SHARED = [
  `update card_authorizations set network_token_id = null, facts = facts || $2::jsonb
   where owner_id = $1 and mpp_credential_id = $3`,
  `insert into mpp_credentials (owner_id, mode, id, created_at, updated_at, agent_id, intent_id, card_id, agent_credential_id,
     status, sent_by, merchant, url, method, amount_cents, network, challenge_id, challenge, request_digest,
     credential_digest, asked_at, due_at, conversion)
   select owner_id, mode, mpp_credential_id, now(), now(), agent_id, intent_id, card_id, c.id, 'minted', 'caller', 'shop',
     'https://shop.example.com', 'GET', amount_cents, 'visa', 'c', '{"id": "c", "realm": "shop"}', 'd', 'e', now(),
     now() + interval '9 days', '{"marginPercent": 2}'
   from card_authorizations a join agent_credentials c using (owner_id, mode, agent_id, intent_id, card_id, mpp_credential_id)
   where owner_id = $1 and mpp_credential_id = $2`,
] as const

const rowsOf = async (sql: string) => service.sql<Record<string, unknown>>(sql, [ownerId])

const storedFacts = () => rowsOf('select id, facts from card_authorizations where owner_id = $1 order by id')

const stored = async () => ({
  payments: await storedFacts(),
  holds: await rowsOf('select * from ledger_holds where owner_id = $1 order by id'),
  reservations: await rowsOf('select * from reservations where owner_id = $1 order by cause_type, cause_id'),
})

test('payments that version 0.7.0 has stored continue under the names of the trade', async () => {
  const { agent, card } = await aPayingCard(client, 100)
  const { authorizationId } = await network.authorize(card.id, 20)
  const increment = { kind: 'authorization', ask: 1, amountCents: 500n, partialAllowed: false } as const
  await network.authorize(card.id, 5, {}, { ...increment, authorizationId })
  await network.clear(card.id, null, 3)
  const payer = await aPayer({}, client)
  const machinePayment = await begun(payer, 20, client)
  const original = { amount: '23.20', currency: 'USD' }
  const { mppCredentialId } = machinePayment
  const converted = { initiatedOriginal: original, initiatedMarginPercent: 2 }
  await service.sql(SHARED[0], [ownerId, JSON.stringify(converted), mppCredentialId])
  await service.sql(SHARED[1], [ownerId, mppCredentialId])
  const before = await stored()

  for (const statement of statementsOf(AS_BEFORE)) await service.sql(statement, [ownerId])
  const none = { outcome: [], reversals: [], clearings: [], refunds: [], confirmed: null, expired: false }
  const requests = [
    { ask: 0, asked: '2000', approved: '2000' },
    { ask: 1, asked: '500', approved: '500' },
  ]
  expect((await storedFacts()).map(({ facts }) => facts)).toEqual([
    { ...none, asks: requests },
    { ...none, asks: [], clearings: [{ id: expect.any(String), amount: '300', final: true }] },
    { ...none, asks: [], begun: '2000', begunOriginal: original },
  ])
  await migrate()
  expect(await stored()).toEqual(before)
  const types = before.reservations.map(({ cause_type: type }) => type)
  expect(new Set(types)).toEqual(
    new Set(['card_increment', 'card_unauthorized', 'card_unauthorized_covered', 'intent']),
  )

  await network.clear(card.id, authorizationId, 25)
  expect(await balanceOf(agent.id, client)).toEqual([72, 0])
  expect(await usesOf([agent.id, card.id])).toEqual([
    { reserved: 0, spent: 2_800, open: 0, made: 2 },
    { reserved: 0, spent: 2_800, open: 0, made: 2 },
  ])
  await machinePayment.settle('paid')
  expect(await transactionsOf(payer.card.id, client)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
  expect(await bodyOf(client.intents.get({ params: { id: payer.intent.id } }))).toMatchObject({
    status: 'completed',
  })
  await expectVerifiedLedger(client)
})
