import type { Case, Request } from '../case.ts'
import { transferCases, WALLETS } from '../cases/transfer-cases.ts'
import { fillAgents } from '../database/intent-rows.ts'
import { CONNECTIONS, measureLoads } from '../loads.ts'
import { loadTable, ratio, resultFinder, type Section, tableLine } from '../report.ts'
import { bearer, post, type Stage, withClient } from '../stage.ts'
import { paidIntents } from './paid-intents.ts'

const AT_ONCE = 16
/** Enough of each payment that no measurement runs out of refunds. */
const EUROS = 50

/** The payments get ids that the load can enumerate. */
const rename = (table: string, column: string): string => `
update ${table} set ${column} = known.name
from unnest($1::text[], $2::text[]) as known (id, name) where ${table}.${column} = known.id`
const NAMED = [
  ['transactions', 'id'],
  ['transfers', 'transaction_id'],
  ['intents', 'transaction_id'],
] as const

/**
 * Refunds between wallets against transfers between them, from 1,000 wallets and from one that all have paid.
 * Most transfers only move money; those on intents also end the intent, count in its limits and leave a
 * payment, all of which a refund reverses.
 */
export async function measureRefunds(stage: Stage): Promise<Section> {
  await fillAgents(stage)
  const [transfers, transfer] = transferCases(stage) as [Case, Case]
  await addPayments(stage, 'txn_bench_', n => `wallet_bench_${(n % WALLETS) + 1}`)
  await addPayments(stage, 'txn_hot_', () => 'wallet_bench_1')
  const refund = (prefix: string) => ({
    server: stage.api,
    request: (): Request => ({
      method: 'POST',
      path: '/refunds',
      token: stage.token,
      keys: true,
      body: { transactionId: `${prefix}{n}`, amountEuros: 0.01, reason: 'requested' },
      numbers: { from: 2, to: WALLETS },
    }),
  })
  const alone = ({ sqlEquivalent: _, ...one }: Case): Case => one
  const cases: Case[] = [
    alone(transfers),
    { name: 'refunds', title: 'POST /refunds, 1,000 wallets', ...refund('txn_bench_') },
    alone(transfer),
    { name: 'refund', title: 'POST /refunds, one hot payee', ...refund('txn_hot_') },
    paidIntents(stage),
  ]
  const loads = await measureLoads(stage, cases)
  const of = resultFinder(loads)
  const compared = (title: string, one: string, other: string): string =>
    tableLine([title, ...CONNECTIONS.map(n => ratio(of(one, n)?.perSecond, of(other, n)?.perSecond))])
  const text = loadTable(cases, loads, [
    compared('refunds / transfers, 1,000 wallets', 'refunds', 'transfers'),
    compared('refund / transfer, one hot wallet', 'refund', 'transfer'),
    compared('refunds / transfers on intents', 'refunds', 'paid'),
  ])
  return { figures: { refunds: loads }, text }
}

async function addPayments(stage: Stage, prefix: string, payeeOf: (n: number) => string): Promise<void> {
  const waiting = Array.from({ length: WALLETS - 1 }, (_, index) => index + 2)
  const ids: [number, string][] = []
  const line = async () => {
    for (let n = waiting.pop(); n; n = waiting.pop()) {
      const [fromWalletId, toWalletId] = [`wallet_bench_${n}`, payeeOf(n)]
      const declared = {
        agentId: `agent_bench_${n}`,
        walletId: toWalletId,
        amountEuros: EUROS,
        purpose: 'Bench',
      }
      const { id: intentId } = await post(stage.api, '/intents', declared, bearer(stage))
      const body = { fromWalletId, toWalletId, amountEuros: EUROS, intentId }
      const { transactionId = '' } = await post(stage.api, '/transfers', body, bearer(stage))
      ids.push([n, transactionId])
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, line))
  const names = [ids.map(([, id]) => id), ids.map(([n]) => `${prefix}${n}`)]
  await withClient(stage, async client => {
    await client.query('begin')
    for (const [table, column] of NAMED) await client.query(rename(table, column), names)
    await client.query('commit')
    await client.query('vacuum analyze transactions, transfers')
  })
}
