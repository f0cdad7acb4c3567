import { sandboxProcessor } from '../../../src/adapters/card-processor/sandbox.ts'
import type { CardMerchant, CardMessageContent } from '../../../src/ports/card-processor.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'
import { clock } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import { bearer, ENCRYPTION_KEY, post, type StageToFill, withClient } from '../stage.ts'
import { CARDS, processorIdOf } from './card-rows.ts'
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

/** The agent with a tenth of all authorizations. */
const HOT = 1

/** The shares of each outcome in twenty authorizations; the number is that of the agent whose payment is copied. */
const FATES = { cleared: CARDS, ofIntent: CARDS - 1, reversed: CARDS - 2, declined: CARDS - 3 } as const
const SHARES = { cleared: 8, ofIntent: 6, reversed: 3, declined: 3 } as const
type Fate = keyof typeof FATES

const merchant: CardMerchant = {
  descriptor: 'Bookshop',
  mcc: '5942',
  city: null,
  country: 'DE',
  url: null,
  networkTokenId: null,
}

/** Makes one card payment of each outcome through the API; all of its rows are copied. */
async function makeOnes(stage: StageToFill, encryptionKey: string): Promise<void> {
  const secretsFor = (purpose: string) => deriveSecrets(purpose, encryptionKey)
  const processor = sandboxProcessor({
    numbers: secretsFor('sandbox card numbers'),
    messages: secretsFor('sandbox card messages'),
  })
  const tell = async (fate: Fate, content: CardMessageContent) => {
    const id = `past-${content.kind}-${FATES[fate]}`
    const processorCardId = processorIdOf(FATES[fate])
    const message = processor.sign?.({ id, processorCardId, sentAt: clock.real(), content })
    const answer = await fetch(`${stage.api.url}/rails/card-processor`, { method: 'POST', ...message })
    if (!answer.ok) throw new Error(`${id}: ${await answer.text()}`)
  }
  const authorize = (fate: Fate, amountCents = cents(950n)) =>
    tell(fate, {
      kind: 'authorization',
      authorizationId: refOf(fate),
      ask: 0,
      amountCents,
      partialAllowed: false,
      merchant,
    })
  const clear = (fate: Fate) =>
    tell(fate, {
      kind: 'clearing',
      clearingId: `past-clearing-${FATES[fate]}`,
      authorizationId: refOf(fate),
      amountCents: cents(950n),
      final: true,
      merchant,
    })
  await authorize('cleared')
  await clear('cleared')
  const declared = { agentId: `agent_bench_${FATES.ofIntent}`, amountEuros: 9.5, merchant: 'Bookshop' }
  const headers = { ...bearer(stage), 'idempotency-key': `past/${FATES.ofIntent}` }
  await post(stage.api, '/intents', { ...declared, purpose: 'A paper on caching' }, headers)
  await authorize('ofIntent')
  await clear('ofIntent')
  await authorize('reversed')
  await tell('reversed', { kind: 'reversal', authorizationId: refOf('reversed'), amountCents: null })
  await authorize('declined', cents(9_500n))
}

const refOf = (fate: Fate): string => `past-authorization-${FATES[fate]}`

const CARD = `'card_bench_' || agent`
const WALLET = `'wallet_bench_' || agent`
/** The processor's names end with the number of the agent. */
const told = (column: string): string => `p.${column} || '-' || n`
/** The cause of a posting, hold or reservation: a message, a request of an authorization, or an intent. */
const pastCause = (column: string): string => `case when p.${column} like 'past-%' then ${told(column)}
  when strpos(p.${column}, ':') > 0 then split_part(p.${column}, '_', 1) || '_' || moment
    || right(split_part(p.${column}, ':', 1), 16) || ':' || split_part(p.${column}, ':', 2)
  else ${past(column)} end`
const ofChange = (transfer: string): string => `coalesce(${ofPosting(`${transfer}.id`)},
  substring(${transfer}.reference_id from '^past-[a-z]+-(\\d+):')::int)`

const COPIED: Readonly<Record<string, Copied>> = {
  intents: {
    of: numberIn('t.agent_id'),
    but: {
      ...ofRecord,
      ...ago('expires_at', 'decided_at'),
      agent_id: AGENT,
      decision: DECISION,
      payment_id: past('payment_id'),
      transaction_id: past('transaction_id'),
    },
  },
  card_authorizations: {
    of: numberIn('t.agent_id'),
    but: {
      ...ofRecord,
      agent_id: AGENT,
      card_id: CARD,
      wallet_id: WALLET,
      processor_ref: told('processor_ref'),
      intent_id: past('intent_id'),
      transaction_id: past('transaction_id'),
      decision: DECISION,
      merchant: 'past.merchant',
    },
  },
  card_messages: {
    of: numberIn('t.agent_id'),
    but: {
      id: told('id'),
      ...ago('created_at', 'updated_at'),
      agent_id: AGENT,
      card_id: CARD,
      authorization_id: past('authorization_id'),
    },
  },
  transactions: {
    of: numberIn('t.agent_id'),
    but: {
      ...ofRecord,
      agent_id: AGENT,
      card_id: CARD,
      wallet_id: WALLET,
      intent_id: past('intent_id'),
      merchant: 'past.merchant',
    },
  },
  decisions: {
    of: numberIn('t.agent_id'),
    but: { ...ofRecord, agent_id: AGENT, subject_id: past('subject_id') },
  },
  reservations: {
    of: numberIn('t.subjects[1]'),
    but: {
      subjects: `array(select regexp_replace(s, '\\d+$', agent::text) from unnest(p.subjects) as s)`,
      cause_id: pastCause('cause_id'),
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
      request_id: REQUEST,
    },
  },
  ledger_transfers: {
    of: ofChange('t'),
    but: { id: past('id'), reference_id: pastCause('reference_id'), ...ago('booked_at'), ...PAST_ENTRIES },
  },
  ledger_entries: {
    of: `(select ${ofChange('l')} from ledger_transfers l where l.id = t.transfer_id)`,
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
      reference_id: pastCause('reference_id'),
      ...ago('opened_at', 'ended_at'),
      account_id: `'account_bench_' || agent`,
    },
  },
}

/** Rows that grow with the past, but not by one for each payment. */
const BESIDE = [
  `insert into counters (owner_id, mode, subject, period, spent_cents, uses, last_spend_at)
   select $1, 'test', kind || '_bench_' || a, period, 900, 1, now() from generate_series(1, ${CARDS}) a,
     unnest(array['agent', 'card']) as kind,
     generate_series(1, case a when ${HOT} then ${DAYS} else least(${DAYS}, (select count(*) from past) / ${CARDS}) end) d,
     unnest(periods_of(current_date - d::int)) as p (period) on conflict do nothing`,
  `insert into risk_merchants (owner_id, mode, agent_id, merchant)
   select distinct $1, 'test', ${AGENT}, left(md5(merchant), 22) from past on conflict do nothing`,
]

/** Inserts this many completed card payments with all of their rows. */
export async function fillPastAuthorizations(
  stage: StageToFill,
  count: number,
  encryptionKey = ENCRYPTION_KEY,
): Promise<void> {
  await makeOnes(stage, encryptionKey)
  await withClient(stage, client =>
    copyPast(client, stage.ownerId, count, {
      fates: { agents: FATES, shares: SHARES },
      agent: `case when n % 10 = 0 then ${HOT} else 2 + (hashint4(-n) & 65535) % ${CARDS - 1} end`,
      run: 'null::text',
      copied: COPIED,
      beside: BESIDE,
    }),
  )
}
