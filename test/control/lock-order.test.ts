import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { recordSql, type SqlRecorder } from '../support/sql-recorder.ts'

let recorder!: SqlRecorder
const service = await startTestService({
  own: true,
  through: async url => {
    recorder = await recordSql(url)
    return recorder.url
  },
})

/** The stages of the one order of locks, by the statements that take them. */
const STAGES: readonly (readonly [name: string, statement: RegExp])[] = [
  ['agents', /\bfrom agents\b[\s\S]*\bfor no key update/],
  ['counters', /\bopen_limits\(/],
  ['accounts', /\bfrom ledger_accounts\b[\s\S]*\bfor update/],
  ['intents', /\bfrom intents one\b[\s\S]*\bfor no key update/],
  ['records', /\bfrom (?:transfers|transactions|refunds|disputes)\b[\s\S]*\bfor (?:no key )?update/],
]

/** The stages of an operation, as its statements were first sent. */
async function stagesOf(name: string, operation: () => Promise<unknown>): Promise<string[]> {
  await recorder.measure(name, operation)
  return [...(recorder.statements.get(name) ?? [])].flatMap(text =>
    STAGES.flatMap(([stage, statement]) => (statement.test(text) ? [stage] : [])),
  )
}

test('each way to spend locks agents, counters, accounts, intents and records in this order', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10, maxTransactionEuros: 50 })
  const wallet = await aWallet(client)
  const intentOf = (amountEuros: number) => anIntent(client, agent.id, { amountEuros, walletId: wallet.id })
  const [small, other, large] = [await intentOf(5), await intentOf(6), await intentOf(20)]
  const pay = (intentId: string, amountEuros: number) =>
    bodyOf(
      client.transfers.create({
        body: { fromWalletId: agent.walletId, toWalletId: wallet.id, amountEuros, intentId },
      }),
    )
  expect(await stagesOf('declare', () => intentOf(7))).toEqual(['agents', 'counters', 'accounts'])
  expect(
    await stagesOf('approve', () => bodyOf(client.intents.approve({ params: { id: large.id }, body: {} }))),
  ).toEqual(['agents', 'counters', 'accounts', 'intents'])
  expect(
    await stagesOf('cancel', () => bodyOf(client.intents.cancel({ params: { id: other.id }, body: {} }))),
  ).toEqual(['agents', 'counters', 'accounts', 'intents'])
  expect(await stagesOf('transfer', () => pay(small.id, 5))).toEqual([
    'agents',
    'counters',
    'accounts',
    'intents',
  ])
  const { transactionId } = await pay(large.id, 20)
  const refund = { transactionId: String(transactionId), reason: 'other' } as const
  expect(await stagesOf('refund', () => bodyOf(client.refunds.create({ body: refund })))).toEqual([
    'counters',
    'accounts',
    'records',
  ])
})
