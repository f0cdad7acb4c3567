import { expect, test } from '@jest/globals'
import pg from 'pg'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const { client } = await service.owner()
const network = networkBefore(service)

test('while the rows of one agent are locked, its card is declined in time and others pay', async () => {
  const locked = await aPayingCard(client, 100)
  // Each card has its own agent: on a busy machine several cards of one agent would wait for each other.
  const free = [
    await aPayingCard(client, 100),
    await aPayingCard(client, 100),
    await aPayingCard(client, 100),
  ]
  const holder = new pg.Client({ connectionString: service.databaseUrl })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from agents where id = $1 for update', [locked.agent.id])
  const [ofLocked, ...ofFree] = await Promise.all([
    network.authorize(locked.card.id, 10),
    ...free.map(({ card }) => network.authorize(card.id, 3)),
  ])
  expect(ofLocked?.reply).toMatchObject({ kind: 'declined' })
  expect(ofFree.map(({ reply }) => reply.kind)).toEqual(['approved', 'approved', 'approved'])
  await holder.query('commit')
  await holder.end()
  // The late decision is stored as a decline.
  const again = await network.authorize(locked.card.id, 20)
  expect(again.reply).toMatchObject({ kind: 'approved' })
  const { heldEuros } = (await client.agents.balance({ params: { id: locked.agent.id } })).body
  expect(heldEuros).toBe(20)
  await expectVerifiedLedger(client)
})
