import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { POSTGRES_SESSION_OPTIONS } from '../../../src/platform/database.ts'
import { anApprovedIntent, approvalsIn } from '../../support/control/approvals.ts'
import { anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { BELIEFS } from '../../support/planner-beliefs.ts'
import { recordSql, type SqlRecorder } from '../../support/sql-recorder.ts'

let recorder!: SqlRecorder
const service = await startTestService({
  through: async url => {
    recorder = await recordSql(url)
    return recorder.url
  },
})
const { anApprover } = approvalsIn(service)

const aCardRequest = (client: TestClient, agentId: string) =>
  bodyOf(
    client.cardRequests.create({
      body: {
        type: 'new_card',
        agentId,
        usage: 'multi',
        limits: { maxTransactionEuros: 50 },
        reason: 'Papers',
      },
    }),
  )

/** A transfer whose payee has another name at the bank. */
async function aDoubtfulTransfer(client: TestClient) {
  const wallet = await bodyOf(client.wallets.create({ body: { name: 'Main' } }))
  await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 100 } }))
  const payee = { name: 'Close Adler GmbH', iban: 'DE89370400440532013000' }
  const { id: beneficiaryId } = await bodyOf(client.beneficiaries.create({ body: payee }))
  const body = { fromWalletId: wallet.id, beneficiaryId, amountEuros: 12.5 }
  const { id } = await bodyOf(client.transfers.create({ body }))
  const check = { result: 'close_match', suggestedName: 'Adler GmbH', at: '2026-11-20T09:30:00.000Z' }
  await service.sql(`update transfers set status = 'verifying', payee_check = $2 where id = $1`, [id, check])
  return id
}

/** Makes one decision of each kind and returns them, the newest first. */
async function decideEach(client: TestClient, agentId: string, approve: () => Promise<{ id: string }>) {
  const approved = (await approve()).id
  const denied = (await anIntent(client, agentId)).id
  await bodyOf(client.intents.deny({ params: { id: denied }, body: { reason: 'Too expensive' } }))
  const given = (await aCardRequest(client, agentId)).id
  await bodyOf(client.cardRequests.approve({ params: { id: given }, body: {} }))
  const refused = (await aCardRequest(client, agentId)).id
  await bodyOf(client.cardRequests.deny({ params: { id: refused }, body: { reason: 'One is enough' } }))
  const confirmed = await aDoubtfulTransfer(client)
  await bodyOf(client.transfers.confirmPayee({ params: { id: confirmed }, body: {} }))
  return [
    ['transfers.confirmPayee', 'payment.updated', confirmed],
    ['cardRequests.deny', 'card_limit_request.updated', refused],
    ['cardRequests.approve', 'card_limit_request.updated', given],
    ['intents.deny', 'intent.denied', denied],
    ['intents.approve', 'intent.approved', approved],
  ]
}

const decisionsOf = async (client: TestClient, query = {}) =>
  (await bodyOf(client.audit.list({ query: { kind: 'decision', ...query } }))).data

describe('an audit search for decisions', () => {
  test('finds one entry for each, by whomever, and nothing that no person was asked', async () => {
    const { client, agent, person } = await anApprover({ autoApproveLimitEuros: 10 })
    await anIntent(client, agent.id, { amountEuros: 5 })
    const decided = await decideEach(client, agent.id, () => anApprovedIntent(client, agent.id, person))
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    const found = await decisionsOf(client)
    expect(found.map(({ action, event, resourceId }) => [action, event, resourceId])).toEqual(decided)
    const first = found.at(-1)
    expect(first?.personId).toBe(person.personId)
    expect(await decisionsOf(client, { action: 'intents.approve' })).toEqual([first])
    const page = await decisionsOf(client, { limit: 2 })
    expect(page).toEqual(found.slice(0, 2))
    expect(await decisionsOf((await service.owner()).client)).toEqual([])
  })

  describe('reads decisions only', () => {
    const database = new pg.Client({ connectionString: service.databaseUrl, ...POSTGRES_SESSION_OPTIONS })
    let texts: readonly string[] = []
    beforeAll(async () => {
      const { client } = await service.owner()
      await recorder.measure('decisions', () => decisionsOf(client))
      texts = [...(recorder.statements.get('decisions') ?? [])].filter(text => text.includes('limit $'))
      await database.connect()
      await database.query('begin')
      await database.query('set local role none')
    })
    afterAll(() => database.end())

    test.each(Object.entries(BELIEFS))('with %s', async (_, believe) => {
      await database.query(believe)
      expect(texts).toHaveLength(1)
      const { rows } = await database.query<{ 'QUERY PLAN': string }>(
        `explain (generic_plan, costs off) ${texts[0]}`,
      )
      const plan = rows.map(row => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(/Index Scan Backward/)
      // With a wider index a filter would remain in the plan.
      expect(plan).not.toMatch(/Filter|Sort|Seq Scan|Bitmap/)
    })
  })
})
