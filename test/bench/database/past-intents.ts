import { bearer, post, type StageToFill, withClient } from '../stage.ts'
import {
  AGENT,
  ago,
  type Copied,
  copyPast,
  DAYS,
  DECISION,
  numberIn,
  ofPosting,
  ofRecord,
  PAST_ENTRIES,
  past,
  pastAccount,
  pastVersion,
  REQUEST,
} from './copied-rows.ts'
import { AGENTS } from './intent-rows.ts'

/** The agent with a tenth of all intents; `RUNNER` is the one that works in runs. */
export const HOT = 1
export const RUNNER = 2

/** The shares of each outcome in twenty intents; the number is that of the agent whose intent is copied. */
const FATES = { completed: AGENTS, cancelled: AGENTS - 1, expired: AGENTS - 2, denied: AGENTS - 3 } as const
const SHARES = { completed: 8, cancelled: 4, expired: 5, denied: 3 } as const
type Fate = keyof typeof FATES

/** Creates one intent of each outcome through the API; all of its rows are copied. */
async function makeOnes(stage: StageToFill): Promise<void> {
  const ask = (fate: Fate, path: string, body: object) =>
    post(stage.api, path, body, { ...bearer(stage), 'idempotency-key': `${path.slice(-6)}/${FATES[fate]}` })
  const declare = async (fate: Fate, others: object) => {
    const agentId = `agent_bench_${FATES[fate]}`
    const what = { agentId, amountEuros: 9.5, merchant: 'Bookshop', purpose: 'A paper on caching' }
    return (await ask(fate, '/intents', { ...what, ...others })).id
  }
  const { id: toWalletId } = await post(stage.api, '/wallets', { name: 'Bookshop' }, bearer(stage))
  const intentId = await declare('completed', { walletId: toWalletId })
  const fromWalletId = `wallet_bench_${FATES.completed}`
  await ask('completed', '/transfers', { fromWalletId, toWalletId, amountEuros: 9, intentId })
  await ask('cancelled', `/intents/${await declare('cancelled', {})}/cancel`, {})
  await ask('denied', `/intents/${await declare('denied', { amountEuros: 75 })}/deny`, { reason: 'Too dear' })
  await declare('expired', { expiresInMinutes: 1 })
  await post(stage.api, '/simulate/clock/advance', { minutes: 1 }, bearer(stage))
}

/** The copied tables; all other columns equal those of the copied row. */
const COPIED: Readonly<Record<string, Copied>> = {
  intents: {
    of: numberIn('t.agent_id'),
    but: {
      ...ofRecord,
      ...ago('expires_at', 'decided_at'),
      agent_id: AGENT,
      run_id: 'run',
      merchant: 'past.merchant',
      transaction_id: past('transaction_id'),
      decision: DECISION,
      likeness: 'case when run is not null then left(md5(n::text), 22) end',
    },
  },
  decisions: {
    of: numberIn('t.agent_id'),
    but: { ...ofRecord, agent_id: AGENT, subject_id: past('subject_id') },
  },
  reservations: {
    of: numberIn('t.subjects[1]'),
    but: {
      subjects: `array_remove(array[${AGENT}, run], null)`,
      cause_id: past('cause_id'),
      day: '(p.day - age)::date',
    },
  },
  events: {
    of: numberIn('t.agent_id'),
    but: {
      id: past('id'),
      resource_id: past('resource_id'),
      ...ago('created_at', 'recorded_at'),
      agent_id: AGENT,
      run_id: 'run',
      request_id: REQUEST,
    },
  },
  // All keys are of the last day, so none of them is removed yet.
  idempotency_keys: { of: numberIn('t.key'), but: { key: 'md5(p.key || n)' } },
  ledger_transfers: {
    of: ofPosting('t.id'),
    but: { id: past('id'), reference_id: past('reference_id'), ...ago('booked_at'), ...PAST_ENTRIES },
  },
  ledger_entries: {
    of: ofPosting('t.transfer_id'),
    but: {
      transfer_id: past('transfer_id'),
      hold_id: past('hold_id'),
      ...ago('booked_at'),
      account_id: pastAccount('p.account_id'),
      version: pastVersion('p.version'),
    },
  },
  ledger_holds: {
    of: numberIn('t.account_id'),
    but: {
      id: past('id'),
      reference_id: past('reference_id'),
      ...ago('opened_at', 'ended_at'),
      account_id: `'account_bench_' || agent`,
    },
  },
  transfers: {
    of: numberIn('t.from_wallet_id'),
    but: {
      ...ofRecord,
      ...ago('completed_at'),
      from_wallet_id: `'wallet_bench_' || agent`,
      intent_id: past('intent_id'),
      transaction_id: past('transaction_id'),
      agent_id: AGENT,
    },
  },
  transactions: {
    of: numberIn('t.agent_id'),
    but: {
      ...ofRecord,
      agent_id: AGENT,
      run_id: 'run',
      wallet_id: `'wallet_bench_' || agent`,
      intent_id: past('intent_id'),
      transfer_id: past('transfer_id'),
      merchant: 'past.merchant',
    },
  },
}

/** Rows that grow with the past, but not by one for each intent. */
const BESIDE = [
  `insert into counters (owner_id, mode, subject, period, spent_cents, uses, last_spend_at)
   select $1, 'test', 'agent_bench_' || a, period, 900, 1, now() from generate_series(1, ${AGENTS}) a,
     generate_series(1, case a when ${HOT} then ${DAYS} else least(${DAYS}, (select count(*) from past) / ${AGENTS}) end) d,
     unnest(periods_of(current_date - d::int)) as p (period) on conflict do nothing`,
  `insert into risk_merchants (owner_id, mode, agent_id, merchant)
   select distinct $1, 'test', ${AGENT}, left(md5(merchant), 22) from past on conflict do nothing`,
  `insert into risk_events (id, owner_id, mode, created_at, updated_at, agent_id, outcome, score, signals, subject_type,
     subject_id, amount_cents, merchant)
   select 'riskevent_' || lpad(n::text, 8, '0'), $1, 'test', now(), now(), ${AGENT}, 'pass', 40, '[]', 'intent',
     'intent_' || n, 950, merchant from past where n % 100 = 1`,
  `insert into runs (id, owner_id, mode, created_at, updated_at, agent_id, name, status, ended_at, metadata)
   select distinct on (run) run, $1, 'test', now(), now(), ${AGENT}, run, 'completed', now(), '{}'::jsonb
   from past where run is not null`,
]

const ANY_AGENT = `case when n % 10 = 0 then ${HOT} when n % 100 = 5 then ${RUNNER}
  else 3 + (hashint4(-n) & 65535) % ${AGENTS - 2} end`

export async function fillPast(stage: StageToFill, count: number): Promise<void> {
  await makeOnes(stage)
  await withClient(stage, client =>
    copyPast(client, stage.ownerId, count, {
      fates: { agents: FATES, shares: SHARES },
      agent: ANY_AGENT,
      run: `case agent when ${RUNNER} then 'run_bench_' || n / 1000 end`,
      copied: COPIED,
      beside: BESIDE,
    }),
  )
}
