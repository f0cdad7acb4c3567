import { describe, expect } from '@jest/globals'
import { balanceOf } from '../../support/cards/simulated.ts'
import { clientAt } from '../../support/client.ts'
import { aDispute, aPaidCard, dispute, getDispute, ledgerBalance } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { killAt } from '../../support/processes/kill-at.ts'
import { testKills } from '../../support/tier.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })

/** What the killed process was about to record: the processor had been called, the money not moved. */
const STEPS = {
  'that the processor has opened it':
    'new.processor_dispute_id is not null and old.processor_dispute_id is null',
  'that the processor has the evidence': 'new.documented_at is not null and old.documented_at is null',
  'that it was submitted': 'new.filed_at is not null and old.filed_at is null',
  'that it was won': `new.status = 'won' and old.status <> 'won'`,
} as const

const advance = (client: TestClient, body: object) => client.sandbox.advance({ body })

/** € 92.01 is won a day after the submission. */
async function lead(client: TestClient, id: string): Promise<void> {
  await advance(client, { minutes: 1 })
  await client.disputes.submit({ params: { id } })
  for (const minutes of [5, 5, 1_500, 1_500]) await advance(client, { minutes })
}

const told = (id: string, event: string, change: string | null) =>
  service.sql(
    `select from events where event = $1 and data ->> 'disputeId' = $2 and data ->> 'change' is not distinct from $3`,
    [event, id, change],
  )

async function goesOn(condition: string): Promise<void> {
  const { client, key, agent, transactionId } = await aPaidCard(service, 92.01)
  const { id } = await aDispute(client, transactionId)
  await killAt(service, `before update on disputes for each row when (${condition})`, url =>
    lead(clientAt({ url, token: key }), id),
  )
  await service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)
  await lead(client, id)
  expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 92.01 })
  expect(await balanceOf(client, agent.id)).toEqual([300, 0])
  expect(await ledgerBalance(client, 'disputes')).toBe(0)
  expect(await told(id, 'dispute.updated', 'submitted')).toHaveLength(1)
  expect(await told(id, 'dispute.resolved', null)).toHaveLength(1)
  await expectVerifiedLedger(client)
}

async function isMadeAgain(): Promise<void> {
  const { client, key, agent, transactionId } = await aPaidCard(service, 50)
  const more = { reason: 'fraud' } as const
  await killAt(service, 'before insert on disputes for each row', url =>
    dispute(clientAt({ url, token: key }), transactionId, more),
  )
  expect((await bodyOf(client.disputes.list({}))).data).toEqual([])
  expect(await balanceOf(client, agent.id)).toEqual([250, 0])
  await aDispute(client, transactionId, more)
  expect(await balanceOf(client, agent.id)).toEqual([300, 0])
  await expectVerifiedLedger(client)
}

describe('a process that is killed before it notes of a dispute', () => {
  const steps = Object.entries(STEPS).map(
    ([step, condition]) => [`${step}, has another one go on where it was`, () => goesOn(condition)] as const,
  )
  testKills({
    ...Object.fromEntries(steps),
    'that there is one, has left none, and the same call makes it': isMadeAgain,
  })
})
