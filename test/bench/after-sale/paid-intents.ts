import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Case } from '../case.ts'
import { WALLETS } from '../cases/transfer-cases.ts'
import { AGENTS, APPROVED_CENTS, addApproved } from '../database/intent-rows.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'

/** More than one measurement pays. */
const INTENTS = usualOrShort(8_000, 2_000)

const payeeOf = (n: number): number => 1 + ((n * 7 + 3) % WALLETS)
const PAYEES = `update intents set wallet_id = 'wallet_bench_' || payee, merchant = 'Wallet ' || payee
from generate_series($1::int, $2::int) as n, lateral (select 1 + (n * 7 + 3) % ${WALLETS} as payee) as p
where id = 'intent_bench_' || n`

/** Transfers between wallets, each on its own approved intent. */
export const paidIntents = (stage: Stage): Case => ({
  name: 'paid',
  title: 'POST /transfers on an intent',
  server: stage.api,
  async request() {
    const { from, to } = await addApproved(stage, INTENTS)
    await withClient(stage, client => client.query(PAYEES, [from, to]))
    const lines = Array.from({ length: to - from + 1 }, (_, index) => JSON.stringify(bodyOf(from + index)))
    const bodies = join(stage.folder, `transfers-${from}.txt`)
    writeFileSync(bodies, `${lines.join('\n')}\n`)
    return { method: 'POST', path: '/transfers', token: stage.token, keys: true, bodies }
  },
})

const bodyOf = (n: number) => ({
  fromWalletId: `wallet_bench_${1 + (n % AGENTS)}`,
  toWalletId: `wallet_bench_${payeeOf(n)}`,
  amountEuros: APPROVED_CENTS / 100,
  intentId: `intent_bench_${n}`,
})
