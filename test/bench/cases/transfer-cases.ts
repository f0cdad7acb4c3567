import type { Case, Request } from '../case.ts'
import { payInSql } from '../database/transfer-sql.ts'
import { addWallets } from '../database/wallet-rows.ts'
import { type Stage, withClient } from '../stage.ts'

export const WALLETS = 1_000

export const fillWallets = (stage: Stage): Promise<void> =>
  withClient(stage, async client => {
    await client.query('begin')
    await addWallets(client, stage.ownerId, { kind: 'owner', count: WALLETS })
    await client.query('commit')
    await client.query('vacuum analyze wallets, ledger_accounts')
  })

export function transferCases({ api: server, token }: Stage): Case[] {
  const pay = (payers: number) => ({
    server,
    request: (): Request => ({
      method: 'POST',
      path: '/transfers',
      token,
      keys: true,
      body: { fromWalletId: 'wallet_bench_{n}', toWalletId: 'wallet_bench_{other}', amountEuros: 0.01 },
      numbers: { from: 1, to: payers, others: WALLETS },
    }),
    sqlEquivalent: () => payInSql(WALLETS, payers),
    variants: ['statements', 'only the posting'] as const,
  })
  return [
    { name: 'transfers', title: 'POST /transfers, 1,000 wallets', ...pay(WALLETS) },
    { name: 'transfer', title: 'POST /transfers, one hot payer', ...pay(1) },
  ]
}
